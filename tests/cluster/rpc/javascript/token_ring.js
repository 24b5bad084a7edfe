// A node of a live cluster in another language: it passes tokens on, and follows the rules of Chandy and Lamport.
//
//   python -m cluster up ring.toml --transport grpc --no-coordinator --program 'P3=node token_ring.js SNAPSHOT.PROTO'
//
// The controller says on standard input what this node is; at the end of standard input the node ends. It writes its
// event log as the other nodes do, so the simulation can replay its run.
const fs = require("fs");
const grpc = require("@grpc/grpc-js");
const { loadSync } = require("@grpc/proto-loader");
const { decode, encode } = require("@msgpack/msgpack");

const proto = grpc.loadPackageDefinition(loadSync(process.argv[2], { keepCase: true, longs: Number })).distributed.snapshot;
const secure = (token) => {
  const metadata = new grpc.Metadata();
  metadata.set("authorization", `Bearer ${token}`);
  return metadata;
};
const isKnown = (call) => call.metadata.get("authorization")[0] === `Bearer ${told.token}`;

let told, log; // what this node is, and its event log
let [clock, sent, index, turn, state, isWorking, timer] = [0, 0, 0, 0, 0, false, null];
const counts = { sent: 0, received: 0, actions: 0 };
const snapshots = new Map(); // id: what this node has recorded
const links = new Map(); // number of the target: the stream to it, and what it has not confirmed
const peers = new Map(); // number: host, port, incarnation
let row, outbox; // of the action under way

// ------------------------------------------------------------------ actions: the log first, then the messages

function act(action, seen, rules) {
  [row, outbox] = [[], []];
  rules();
  clock = Math.max(clock, seen) + 1;
  const time = (Date.now() / 1000 - told.began) / told.unit;
  fs.writeSync(log, `${JSON.stringify([clock, time, told.number, action, row, index, sent])}\n`);
  counts.actions += 1;
  for (const message of outbox) link(message.target).send({ ...message.data, clock, sent_at: Date.now() / 1000 });
  planTurn();
}

function transmit([channel, , target], kind, body, more = {}) {
  const id = sent++ * told.names.length + told.number;
  outbox.push({ target, data: { channel, id, kind, body: encode(body), stamp: encode(null), epoch: 0, ...more } });
  return id;
}

const name = ([, source, target]) => `${told.names[source]}->${told.names[target]}`;
const emit = (kind, { at = null, channel = null, peer = null, id = null, body = null, snapshot = null } = {}) =>
  row.push([told.names[told.number], at, kind, channel, peer, id, null, body, snapshot]);

function planTurn() {
  if (!isWorking || timer || state < 1 || turn >= told.parameters.rounds) return;
  timer = setTimeout(() => {
    timer = null;
    if (isWorking && state > 0) act(["turn"], 0, passOn);
  }, told.parameters.hold * told.unit * 1000);
}

function passOn() {
  const channel = told.outgoing[0];
  [turn, state, index, counts.sent] = [turn + 1, state - 1, index + 1, counts.sent + 1];
  const id = transmit(channel, "APP", "token", { index });
  emit("send", { at: index, channel: name(channel), id, body: "token" });
}

// ------------------------------------------------------------------ the rules of Chandy and Lamport

function record(snapshot) {
  snapshots.set(snapshot, { state, inside: index, turn, kept: new Map(), open: new Set(told.incoming.map(([channel]) => channel)) });
  emit("record", { at: index, body: state, snapshot });
  for (const channel of told.outgoing) emit("marker_send", { channel: name(channel), id: transmit(channel, "MARKER", null, { snapshot }), snapshot });
}

function receive(channel, message) {
  for (const [snapshot, { kept, open }] of snapshots) {
    if (!open.has(channel[0])) continue;
    kept.set(channel[0], [...(kept.get(channel[0]) ?? []), { id: message.id, body: "token", sent_index: message.index }]);
    emit("recorded", { channel: name(channel), id: message.id, body: "token", snapshot });
  }
  [state, index, counts.received] = [state + 1, index + 1, counts.received + 1];
  emit("receive", { at: index, channel: name(channel), peer: message.index, id: message.id, body: "token" });
}

function receiveMarker(channel, { id, snapshot }) {
  emit("marker_receive", { channel: name(channel), id, snapshot });
  if (!snapshots.has(snapshot)) record(snapshot);
  const { kept, open } = snapshots.get(snapshot);
  if (!open.delete(channel[0])) return;
  emit("channel_closed", { channel: name(channel), body: (kept.get(channel[0]) ?? []).map(({ body }) => body), snapshot });
  if (open.size) return;
  emit("snapshot_complete", { snapshot });
  upload(snapshot, snapshots.get(snapshot));
}

function upload(snapshot, { state, inside, turn, kept }) {
  const bodies = [...kept.values()].flat().map(({ body }) => body);
  const part = [state, ...bodies].reduce((size, value) => size + JSON.stringify(value).length, 0);
  const storage = told.control.find(([, , target]) => told.names[target] === "storage");
  const states = { "": { document: { whole: state }, inside, turn } };
  for (const channel of told.incoming) states[name(channel)] = kept.get(channel[0]) ?? [];
  const id = transmit(storage, "CONTROL", { part }, { snapshot, stamp: Buffer.alloc(0), flushed: true, states });
  emit("control_send", { channel: name(storage), id, body: { part }, snapshot });
}

// ------------------------------------------------------------------ streams

class Link {
  constructor(target) {
    Object.assign(this, { target, number: 0, unconfirmed: [], isOpen: false });
    this.connect();
  }
  connect() {
    const [host, port, incarnation] = peers.get(this.target);
    const client = new proto.Channels(`${host}:${port}`, grpc.credentials.createInsecure());
    this.flusher = new proto.SnapshotService(`${host}:${port}`, grpc.credentials.createInsecure());
    this.stream = client.Connect(secure(told.token));
    this.stream.write({ frames: [{ hello: { token: told.token, source: told.number, target: this.target, incarnation: told.incarnation, about: encode(incarnation) } }] });
    this.stream.on("data", ({ frames }) => frames.forEach((frame) => this.hear(frame)));
    this.stream.on("error", () => setTimeout(() => this.connect(), 100));
  }
  hear({ welcome, taken, again, bye }) {
    if (bye) throw new Error(bye.reason);
    const received = again ? again.missing - 1 : ((welcome ?? taken).received ?? 0); // proto3 leaves a 0 out
    this.unconfirmed = this.unconfirmed.filter(({ number }) => number > received);
    if (welcome) this.isOpen = true;
    if (welcome || again) this.unconfirmed.forEach((data) => this.write(data));
  }
  send(data) {
    data.number = ++this.number;
    this.unconfirmed.push(data);
    if (this.isOpen) this.write(data);
  }
  write(data) {
    this.written = Promise.resolve(this.written).then(() => this.handOver(data));
  }
  async handOver({ states, ...data }) {
    for (const [channel_id, state] of Object.entries(states ?? {})) {
      const state_data = Buffer.from(encode(state));
      const call = { snapshot_id: data.snapshot, node_id: told.names[told.number], channel_id, state_data };
      await new Promise((done) => this.flusher.FlushChannelState(call, secure(told.token), done));
    }
    this.stream.write({ frames: [{ data }] });
  }
}
const link = (target) => links.get(target) ?? links.set(target, new Link(target)).get(target);

const sources = new Map(); // number of the source: how much has come from it
function connect(stream) {
  if (!isKnown(stream)) return stream.destroy();
  let own, source;
  const say = (frame) => stream.write({ frames: [frame] });
  stream.on("error", () => {}).on("end", () => stream.end());
  stream.on("data", ({ frames }) => {
    for (const { hello, data } of frames) {
      if (hello) {
        source = hello.source;
        own = sources.get(`${source} ${hello.incarnation}`) ?? { received: 0, delivered: 0 };
        sources.set(`${source} ${hello.incarnation}`, own);
        say({ welcome: own });
      } else if (data.number === own.received + 1) {
        own.received += 1;
        own.delivered += data.kind === undefined || data.kind === 0 ? 1 : 0;
        take(data, source);
      } else if (data.number > own.received) say({ again: { missing: own.received + 1 } });
    }
    if (own) say({ taken: own });
  });
}

function take(data, source) {
  const channel = [data.channel, source, told.number];
  const message = { id: data.id ?? 0, index: data.index, snapshot: data.snapshot };
  if (data.kind === 2) {
    const about = { channel: name(channel), id: message.id, body: decode(data.body), snapshot: data.snapshot ?? null };
    act(["control", name(channel), message.id, 0], data.clock, () => emit("control_receive", about));
  } else act(["deliver", name(channel), message.id, 0], data.clock, () => (data.kind === 1 ? receiveMarker : receive)(channel, message));
}

function sendMarker({ metadata, request }, answer) {
  const isNode = told.names.slice(0, told.processes).includes(request.sender_node_id);
  if (!isNode) return answer({ code: grpc.status.INVALID_ARGUMENT, details: "sender_node_id: this is no node of this cluster" });
  const accepted = isKnown({ metadata }) && isWorking && !snapshots.has(request.snapshot_id);
  if (accepted) act(["initiate", request.snapshot_id], 0, () => record(request.snapshot_id));
  answer(null, { accepted });
}

// ------------------------------------------------------------------ the controller

const orders = {
  peers: (addresses) => Object.entries(addresses).forEach(([number, address]) => peers.set(Number(number), address)),
  members: () => say("knows", {}),
  start({ began, clock: seen }) {
    [told.began, clock, isWorking] = [began, Math.max(clock, seen), true];
    planTurn();
  },
  initiate: ({ snapshot, action, clock: seen }) => snapshots.has(snapshot) || act(action, seen, () => record(snapshot)),
  drain: () => (isWorking = false),
  report: () => say("reported", { ...counts, waiting: 0, unconfirmed: [...links.values()].reduce((count, { unconfirmed }) => count + unconfirmed.length, 0) }),
  stop: () => process.exit(0),
  mend() {},
  delay() {}, // this node takes what comes at once
};
let control;
const say = (what, body) => control.write({ frames: [{ report: { what, body: encode(body) } }] });

function begin(line) {
  told = JSON.parse(line);
  state = told.initial;
  log = fs.openSync(`${told.folder}/${told.number}.log`, "a");
  const server = new grpc.Server();
  server.addService(proto.Channels.service, { Connect: connect });
  server.addService(proto.SnapshotService.service, { SendMarker: sendMarker });
  server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (_, port) => {
    const client = new proto.Channels(`${told.host}:${told.port}`, grpc.credentials.createInsecure());
    control = client.Connect(secure(told.token));
    control.on("error", () => process.exit(0)).on("end", () => process.exit(0));
    control.on("data", ({ frames }) => frames.forEach(({ order }) => orders[order.what](decode(order.body))));
    const about = encode({ port, pid: process.pid });
    control.write({ frames: [{ hello: { token: told.token, source: told.number, target: -1, incarnation: told.incarnation, about } }] });
    setInterval(() => say("report", { ...counts, waiting: 0, unconfirmed: 0, clock, index, epoch: 0, latency: [] }), 250);
  });
}

let text = "";
process.stdin.on("data", (content) => {
  text += content;
  if (!told && text.includes("\n")) begin(text.split("\n")[0]);
});
process.stdin.on("end", () => process.exit(0));
