/**
 * True for base64 text as `contentEncoding: base64` means it: the standard alphabet with padding; line breaks are
 * allowed anywhere (RFC 4648 section 4; the same as Go's decoder). Node's own decoder never fails, so the text itself is looked at.
 */
export function isBase64Text(text: string): boolean {
  const compact = /[\r\n]/.test(text) ? text.replace(/[\r\n]+/g, '') : text;
  return compact.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(compact);
}
