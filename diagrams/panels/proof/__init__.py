"""The panel Proof: Dijkstra's interchange of actions."""
