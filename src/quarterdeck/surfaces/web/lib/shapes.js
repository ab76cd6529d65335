// Questions and forms as agents and MCP servers send them, read so that whatever they hold can be shown.

/** @typedef {{ value: any, label: string }} Choice */

/** @param {unknown} value @returns {value is Record<string, any>} */
function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Any value as text. @param {unknown} value */
function text(value) {
  if (typeof value === "string") return value;
  return value === null || value === undefined ? "" : JSON.stringify(value);
}

/** What is kept under this name; a name such as `constructor` is one like any other.
 * @template T @param {Record<string, T>} map @param {string} name @param {T} empty */
export function kept(map, name, empty) {
  return Object.hasOwn(map, name) ? map[name] : empty;
}

/** @param {any} input @returns {{ question: string, header: string, several: boolean, options: { label: any, name: string, description: string }[] }[]} */
export function readQuestions(input) {
  const all = Array.isArray(input.questions) ? input.questions : [];
  return all.map((/** @type {unknown} */ raw) => {
    const one = isObject(raw) ? raw : { question: raw };
    const options = (Array.isArray(one.options) ? one.options : []).map((/** @type {unknown} */ option) => {
      const { label, description } = isObject(option) ? option : { label: option, description: "" };
      return { label, name: text(label), description: text(description) };
    });
    return { question: text(one.question), header: text(one.header), several: one.multiSelect === true, options };
  });
}

/** The fields of a form. `start` is its value before anything was typed.
 * @param {unknown} schema @returns {{ name: string, title: string, description: string, required: boolean, kind: string, choices: Choice[] | null, start: any }[]} */
export function readFields(schema) {
  if (!isObject(schema) || !isObject(schema.properties)) return [];
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(schema.properties).map(([name, raw]) => {
    const shape = isObject(raw) ? raw : {};
    const kind = ["boolean", "array", "number", "integer"].includes(shape.type) ? shape.type : "string";
    const choices = kind === "array" ? readChoices(shape.items) || [] : readChoices(shape);
    const known = { boolean: shape.default === true, array: Array.isArray(shape.default) ? shape.default : [] };
    const start = kind === "boolean" || kind === "array" ? known[/** @type {"boolean" | "array"} */ (kind)] : text(shape.default);
    return { name, title: text(shape.title) || name, description: text(shape.description), required: required.includes(name), kind: shape.format === "email" ? "email" : kind, choices, start };
  });
}

/** The values to choose from; null when any may be typed. @param {unknown} shape @returns {Choice[] | null} */
function readChoices(shape) {
  if (!isObject(shape)) return null;
  const titled = shape.oneOf || shape.anyOf;
  if (Array.isArray(titled)) return titled.filter(isObject).map((one) => ({ value: one.const, label: text(one.title) || text(one.const) }));
  if (!Array.isArray(shape.enum)) return null;
  const names = Array.isArray(shape.enumNames) ? shape.enumNames : [];
  return shape.enum.map((value, n) => ({ value, label: text(names[n]) || text(value) }));
}
