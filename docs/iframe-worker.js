/* Browsers start no worker for a page that was opened from the disk, and the search is one. There it
   runs in a hidden frame instead. (The offline plugin would load such a script from the network.) */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inside = frame.contentWindow;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const script = inside.document.createElement("script");
      script.src = address;
      const loaded = new Promise((done) => { script.onload = done; });
      inside.document.body.append(script);
      this.postMessage = (data) =>
        loaded.then(() => inside.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
}
