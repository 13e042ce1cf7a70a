import { inCi, isGithubActions, type Surroundings } from './surroundings.js';

/**
 * What reads the text that is about to be shown, and so what a hostile text could drive.
 *
 * - `terminal`: a person's screen; only control characters matter.
 * - `wrapped`: GitHub Actions between `::stop-commands::<random>` and its end; the same.
 * - `ci`: a line that starts with `::`, `##[`, `##vso[` or `##teamcity[` gets a space before it.
 * - `marked`: a system that looks for `##[` and `##vso[` anywhere in a line (the Azure agent, and the runner of GitHub
 *   Actions outside the wrapping) or trims a line before it looks for `::`: there the marker itself is broken.
 */
export type Audience = 'terminal' | 'wrapped' | 'ci' | 'marked';

/** Who reads our own lines, which are never wrapped. */
export function audienceOf(env: Surroundings['env']): Audience {
  if (!inCi(env) && !isGithubActions(env)) return 'terminal';
  return isGithubActions(env) || env['TF_BUILD'] !== undefined ? 'marked' : 'ci';
}

/** Makes a stream of raw bytes safe to show. Bounded memory: a few characters are held back between chunks. */
export interface LogGuard {
  push(chunk: Uint8Array): string;
  /** A line of ours has ended the log's open line on the screen: what comes next stands at the start of a line. */
  brokeLine(): void;
  /** What was held back. */
  end(): string;
}

export function logGuard(audience: Audience): LogGuard {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const controls = new Controls(audience);
  const starts = audience === 'ci' || audience === 'marked' ? new LineStarts(audience) : undefined;
  const pass = (text: string, last: boolean): string => {
    const shown = controls.push(text, last);
    return starts ? starts.push(shown, last) : shown;
  };
  return {
    push: (chunk) => pass(decoder.decode(chunk, { stream: true }), false),
    brokeLine: () => starts?.brokeLine(),
    end: () => pass(decoder.decode(), true),
  };
}

/** A whole text, newlines kept. */
export function safeText(text: string, audience: Audience): string {
  const shown = new Controls(audience).push(text, true);
  return audience === 'ci' || audience === 'marked' ? new LineStarts(audience).push(shown, true) : shown;
}

/**
 * A statement of ours (a note, a warning, a line of an error): one line, whatever the names and words in it say that are a
 * bundle's or a server's. With a newline in it a parameter's name could speak to the user as we do.
 */
export function safeStatement(line: string, audience: Audience): string {
  return safeText(safeLine(line.replace(HARMLESS_SEQUENCE, '').trimEnd()), audience);
}

/** A text as one line: for names, table cells and foreign words inside a sentence. */
export function safeLine(text: string): string {
  return text.replace(/\n/g, '\\n').replace(/\r/g, '\\r').replace(CONTROL, visible);
}

/** C0 but tab and newline, DEL, C1, line separators, and what reorders or hides text (CVE-2021-42574). */
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g;
/**
 * In CI also everything invisible: .NET compares text without ignorable characters, so a soft hyphen inside
 * `##vso[` does not stop the agent from finding it.
 */
const CONTROL_OR_HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;
/** Colours and "clear to the end of the line", which tools print everywhere: dropped, not shown. */
const HARMLESS_SEQUENCE = /\u001b\[[\d;:]{0,32}[mK]/g;
const CUT_SEQUENCE = /\u001b(?:\[[\d;:]{0,32})?$/;

function visible(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x100) return `\\x${code.toString(16).padStart(2, '0')}`;
  return code < 0x10000 ? `\\u${code.toString(16).padStart(4, '0')}` : `\\u{${code.toString(16)}}`;
}

class Controls {
  private held = '';
  private readonly dangerous: RegExp;

  constructor(audience: Audience) {
    this.dangerous = audience === 'ci' || audience === 'marked' ? CONTROL_OR_HIDDEN : CONTROL;
  }

  push(chunk: string, last: boolean): string {
    let text = this.held + chunk;
    this.held = '';
    if (!last) {
      const cut = /\r+$/.exec(text) ?? CUT_SEQUENCE.exec(text);
      if (cut) {
        // A run of carriage returns is one line end, so one of them stands for all.
        this.held = cut[0].startsWith('\r') ? '\r' : cut[0];
        text = text.slice(0, cut.index);
      }
    }
    // A carriage return lets a line overwrite what stands there, and CI systems end a line at it: it ends a line here.
    return text
      .replace(/\r+\n?/g, '\n')
      .replace(HARMLESS_SEQUENCE, '')
      .replace(this.dangerous, visible);
  }
}

class LineStarts {
  private held = '';
  private atStart = true;

  constructor(private readonly audience: Audience) {}

  brokeLine(): void {
    this.atStart = true;
  }

  push(chunk: string, last: boolean): string {
    let text = this.held + chunk;
    this.held = '';
    if (!last) {
      // Not yet known whether this becomes a marker.
      const open = /(?:(?<!:):|##?(?:v(?:s(?:o)?)?|t(?:e(?:a(?:m(?:c(?:i(?:t(?:y)?)?)?)?)?)?)?)?)$/i.exec(text);
      if (open) {
        this.held = open[0];
        text = text.slice(0, open.index);
      }
    }
    const inside = this.audience === 'marked';
    const shown = text
      .replace(
        /(^|\n)([^\S\n]*)(::|##(?=\[|vso\[|teamcity\[))/gi,
        (all, newline: string, blanks: string, marker: string, at) => {
          if (newline === '' && !(at === 0 && this.atStart)) return all;
          return `${newline}${blanks}${inside && marker === '::' ? ': :' : ` ${marker}`}`;
        },
      )
      .replace(/##(?=\[|vso\[|teamcity\[)/gi, inside ? '## ' : '##');
    const tail = text.slice(text.lastIndexOf('\n') + 1);
    this.atStart = (this.atStart || text.includes('\n')) && /^[^\S\n]*$/.test(tail);
    return shown;
  }
}
