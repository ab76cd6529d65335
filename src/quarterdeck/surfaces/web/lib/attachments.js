// Files as attachments of a prompt.

const IMAGES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** @param {File} file @returns {Promise<any>} */
export async function attachment(file) {
  if (IMAGES.includes(file.type)) return { type: "image", source: { type: "base64", media_type: file.type, data: await base64(file) } };
  if (file.type === "application/pdf") return { type: "document", title: file.name, source: { type: "base64", media_type: file.type, data: await base64(file) } };
  return { type: "document", title: file.name, source: { type: "text", media_type: "text/plain", data: await file.text() } };
}

/** @param {File} file @returns {Promise<string>} */
function base64(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ""));
    reader.onerror = () => reject(new Error(`${file.name} cannot be read`));
    reader.readAsDataURL(file);
  });
}
