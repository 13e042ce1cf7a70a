import type {
  ContainerOutput,
  ContainerRuntime,
  ContainerSpec,
  RunningContainer,
} from '../../src/driver/sandbox/api-server/container-runtime.js';

/** In frames alone: base64 has no spaces. */
const PASS_END = Buffer.from(' end ');

/**
 * Lets the sidecar write its next pass when the reader has come to the end of the one before, or what was left of that
 * was rotated away. On a cluster the pauses between passes, 15 and 30 s, give a reader that keeps up at all the time for this; a test
 * that counted on shorter ones would be about the speed of the machine.
 */
export class PacedLog implements ContainerRuntime {
  private passes = 0;
  private open: () => void = () => undefined;
  private isOver = false;

  constructor(private readonly inner: ContainerRuntime) {}

  /** Something of the log has reached the reader. */
  reached(chunk: Buffer): void {
    if (chunk.includes(this.mark)) this.open();
  }

  /** What was in the log is in no reader's way any more. */
  rotated(): void {
    this.open();
  }

  pull(...given: Parameters<ContainerRuntime['pull']>): ReturnType<ContainerRuntime['pull']> {
    return this.inner.pull(...given);
  }

  removePod(podUid: string): Promise<void> {
    return this.inner.removePod(podUid);
  }

  async start(spec: ContainerSpec, output: ContainerOutput): Promise<RunningContainer> {
    if (spec.name !== 'outputs') return this.inner.start(spec, output);
    const container = await this.inner.start(spec, { ...output, stdout: this.pacing(output) });
    const kill: RunningContainer['kill'] = (signal) => {
      if (signal === 'SIGKILL') this.end();
      container.kill(signal);
    };
    return { ...container, kill };
  }

  /** A line of the log that is no frame; it says which pass is over. */
  private get mark(): string {
    return `pass ${this.passes} is in the log`;
  }

  private end(): void {
    this.isOver = true;
    this.open();
  }

  private pacing(output: ContainerOutput): ContainerOutput['stdout'] {
    let rest: Buffer = Buffer.alloc(0);
    return async (chunk) => {
      rest = Buffer.concat([rest, chunk]);
      for (;;) {
        const frame = rest.indexOf(PASS_END);
        const to = frame < 0 ? rest.lastIndexOf('\n') + 1 : rest.indexOf('\n', frame) + 1;
        if (to === 0) return;
        await output.stdout(rest.subarray(0, to));
        rest = rest.subarray(to);
        if (frame >= 0) await this.pause(output);
      }
    };
  }

  private async pause(output: ContainerOutput): Promise<void> {
    this.passes += 1;
    const goOn = new Promise<void>((resolve) => (this.open = resolve));
    await output.stdout(Buffer.from(`${this.mark}\n`));
    if (!this.isOver) await goOn;
  }
}
