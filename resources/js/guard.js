// Removes from a page and its workers what sends without an interceptable request: sockets of workers, WebTransport,
// data channels.  Sockets of the page itself stay; each of their messages is decided individually.
//
// A worker whose script comes from the network is served a policy with the same effect (app.engine.browser.watchpost).
// One created from a blob or a data address gets this script before its own.

(function guard(own) {
  const inWorker = typeof document === "undefined";
  delete self.WebTransport;
  delete self.WebSocketStream;
  if (inWorker) delete self.WebSocket;
  if (self.RTCPeerConnection) delete self.RTCPeerConnection.prototype.createDataChannel;

  const first = `(${own})(${JSON.stringify(own)});\n`;
  const blobs = new Map();
  const create = URL.createObjectURL.bind(URL);
  const revoke = URL.revokeObjectURL.bind(URL);
  URL.createObjectURL = (thing) => {
    const address = create(thing);
    if (thing instanceof Blob) blobs.set(address, thing);
    return address;
  };
  URL.revokeObjectURL = (address) => {
    blobs.delete(address);
    revoke(address);
  };

  const guarded = (address) => {
    const text = String(address);
    if (/^data:/i.test(text)) {
      const comma = text.indexOf(",");
      const head = text.slice(0, comma);
      if (!/;base64$/i.test(head)) return `${head},${encodeURIComponent(first)}${text.slice(comma + 1)}`;
      return `${head},${btoa(first + atob(decodeURIComponent(text.slice(comma + 1))))}`;
    }
    if (!/^blob:/i.test(text)) return address;
    const blob = blobs.get(text);
    if (blob) return create(new Blob([first, blob], { type: "text/javascript" }));
    const asked = new XMLHttpRequest(); // created in another frame
    asked.open("GET", text, false);
    asked.send();
    return create(new Blob([first, asked.responseText], { type: "text/javascript" }));
  };
  for (const name of ["Worker", "SharedWorker"]) {
    if (!self[name]) continue;
    const made = new Map(); // a shared worker is identified by its address
    self[name] = new Proxy(self[name], {
      construct(kind, [address, ...rest], target) {
        const key = String(address);
        if (name === "Worker") return Reflect.construct(kind, [guarded(address), ...rest], target);
        if (!made.has(key)) made.set(key, guarded(address));
        return Reflect.construct(kind, [made.get(key), ...rest], target);
      },
    });
  }
})
