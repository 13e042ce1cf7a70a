import type { Json } from '../../bundle/bundle.js';
import { document, type View } from '../format.js';
import { safeLine } from '../log-guard.js';

export class ForgottenView implements View {
  constructor(
    private readonly installation: string,
    private readonly target: string,
    private readonly where: string,
  ) {}

  toJson(): Json {
    return document('forget', { installation: this.installation, target: this.target, forgotten: true, ran: 'no' });
  }

  toText(): string {
    return `forgot "${safeLine(this.installation)}" on ${safeLine(this.where)}; nothing was run, what it installed is still there`;
  }
}
