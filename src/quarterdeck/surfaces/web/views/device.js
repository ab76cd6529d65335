// This device: what it may do, how it asks for more, and whether the page can be installed as an app.
import { get, post } from "../lib/connection.js";
import { html, useEffect, useState } from "../lib/html.js";
import { notInstallable } from "../lib/install.js";
import { STRINGS } from "../lib/strings.js";

export function Device() {
  const [me, setMe] = useState(/** @type {any} */ (null));
  const [number, setNumber] = useState("");
  const [problem, setProblem] = useState("");
  useEffect(() => {
    get("/me").then(setMe, (error) => setProblem(error.message));
  }, []);
  const ask = () => post("/me/step-up", {}).then((found) => setNumber(found.number), (error) => setProblem(error.message));
  if (!me) return html`<p role="status">${problem}</p>`;
  return html`<section class="device" aria-label=${STRINGS.device}>
    <h3>${STRINGS.device}</h3>
    <p>${STRINGS.mayDo} ${me.scopes.join(", ")}.</p>
    ${number
      ? html`<p role="status">${STRINGS.confirmNumber} <code>qd devices confirm ${me.device_id} ${number}</code></p>`
      : me.device_id && !me.scopes.includes("control")
        ? html`<button type="button" onClick=${ask}>${STRINGS.askForMore}</button>`
        : null}
    ${notInstallable.value ? html`<p>${notInstallable.value}</p>` : null}
    ${problem ? html`<p role="alert">${problem}</p>` : null}
  </section>`;
}
