import net from 'node:net';
import type { AddressInfo } from 'node:net';

/**
 * Where the run tool of a test tells that it has started, outside of everything that a run leaves: a line over TCP, answered
 * before the tool goes on. So a second start is seen also where the first one left no log, no output and no record.
 */
export class StartCounter {
  readonly #told = new Map<string, number>();
  readonly #listeners = new Set<() => void>();

  private constructor(private readonly server: net.Server) {
    server.on('connection', (socket) => this.#serve(socket));
  }

  static async start(host = '127.0.0.1'): Promise<StartCounter> {
    const server = net.createServer({ allowHalfOpen: true });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, host, resolve);
    });
    return new StartCounter(server);
  }

  get address(): AddressInfo {
    return this.server.address() as AddressInfo;
  }

  /** How often a line has come. */
  count(line: string): number {
    return this.#told.get(line) ?? 0;
  }

  /** Resolves when the line has come, at once where it has; or when the signal is aborted. */
  heard(line: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (this.count(line) === 0 && !signal.aborted) return;
        this.#listeners.delete(look);
        resolve();
      };
      this.#listeners.add(look);
      signal.addEventListener('abort', look, { once: true });
      look();
    });
  }

  close(): void {
    this.server.close();
  }

  #serve(socket: net.Socket): void {
    let text = '';
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const end = text.indexOf('\n');
      if (end < 0) return;
      const line = text.slice(0, end);
      this.#told.set(line, this.count(line) + 1);
      socket.end('heard\n');
      for (const look of [...this.#listeners]) look();
    });
  }
}
