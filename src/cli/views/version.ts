import type { Json } from '../../bundle/bundle.js';
import { document, type View } from '../format.js';

export class VersionView implements View {
  constructor(
    private readonly version: string,
    private readonly platform: string,
  ) {}

  toJson(): Json {
    return document('version', { version: this.version, platform: this.platform, node: process.version });
  }

  /** The same text as the short way in bin/run.js. */
  toText(): string {
    return `cnab ${this.version}`;
  }
}
