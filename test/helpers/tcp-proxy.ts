import net from 'node:net';
import type { AddressInfo } from 'node:net';

export interface TcpProxyOptions {
  readonly host: string;
  readonly port: number;
  /** Each connection is reset after so many seconds, drawn anew for each; absent: never. */
  readonly cutAfterSeconds?: { readonly from: number; readonly to: number };
  /** What all connections together bring the client, at most; absent: no limit. */
  readonly bytesPerSecond?: number;
  /** 0 <= x < 1; absent: Math.random. */
  readonly random?: () => number;
}

/** Passes bytes on between a client and a server and understands none of them: what a bad line does to TLS connections. */
export class TcpProxy {
  cuts = 0;
  /** Brought to the client. */
  bytes = 0;
  readonly #open = new Set<net.Socket>();
  /** When the line is free again, in milliseconds of performance.now(). */
  #free = 0;

  private constructor(
    private readonly options: TcpProxyOptions,
    private readonly server: net.Server,
  ) {
    server.on('connection', (client) => this.#join(client));
  }

  static async start(options: TcpProxyOptions): Promise<TcpProxy> {
    const server = net.createServer();
    const proxy = new TcpProxy(options, server);
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', resolve);
    });
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  close(): void {
    this.server.close();
    for (const socket of this.#open) socket.destroy();
  }

  #join(client: net.Socket): void {
    const { host, port, cutAfterSeconds, random = Math.random } = this.options;
    const server = net.connect(port, host);
    const both = [client, server];
    let timer: NodeJS.Timeout | undefined;
    const part = (): void => {
      clearTimeout(timer);
      for (const socket of both) {
        this.#open.delete(socket);
        socket.destroy();
      }
    };
    if (cutAfterSeconds !== undefined) {
      const { from, to } = cutAfterSeconds;
      timer = setTimeout(
        () => {
          this.cuts += 1;
          client.resetAndDestroy();
          part();
        },
        (from + random() * (to - from)) * 1000,
      );
    }
    for (const socket of both) {
      this.#open.add(socket);
      socket.on('error', part);
      socket.on('close', part);
    }
    client.pipe(server);
    this.#bring(server, client);
  }

  /** From the server to the client, no faster than the line is and no faster than the client reads. */
  #bring(server: net.Socket, client: net.Socket): void {
    const { bytesPerSecond } = this.options;
    server.on('data', (chunk: Buffer) => {
      this.bytes += chunk.length;
      const taken = client.write(chunk);
      let wait = 0;
      if (bytesPerSecond !== undefined) {
        const now = performance.now();
        this.#free = Math.max(this.#free, now) + (chunk.length / bytesPerSecond) * 1000;
        wait = this.#free - now;
      }
      if (taken && wait <= 0) return;
      server.pause();
      const drained = taken ? Promise.resolve() : new Promise((resolve) => client.once('drain', resolve));
      void drained.then(() => setTimeout(() => server.resume(), wait));
    });
    server.on('end', () => client.end());
  }
}
