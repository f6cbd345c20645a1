// In files, browsers start no worker. Search gets one that runs in a frame without a face instead.
if (location.protocol === "file:") {
  window.Worker = class {
    constructor(url) {
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inside = this.frame.contentWindow;
      inside.document.open();
      inside.document.write("<!doctype html><title>search</title><body></body>");
      inside.document.close();
      inside.postMessage = (data) => setTimeout(() => this.onmessage && this.onmessage({ data }));
      this.ready = new Promise((loaded) => {
        const script = inside.document.createElement("script");
        script.onload = loaded;
        script.src = url;
        inside.document.body.append(script);
      });
    }
    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow && this.frame.contentWindow.onmessage({ data }));
    }
    terminate() {
      this.frame.remove();
    }
  };
}
