"""The nodes of a cluster over gRPC: snapshot.proto says what they say, and snapshot_pb2 is made of it."""
