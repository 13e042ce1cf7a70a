import { CnabError } from '../errors.js';

/** `key=value`, cut at the first `=`. Throws CnabError `invalid`, which never shows the value. */
export function parsePair(text: string, flag: string): readonly [key: string, value: string] {
  const at = text.indexOf('=');
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  if (at === 0) throw new CnabError('invalid', `${flag} has nothing before the "="`);
  throw new CnabError('invalid', `${flag} ${JSON.stringify(text)} has no "=": write ${flag} NAME=VALUE`);
}
