/** The kubelet's own times and sizes. Milliseconds and bytes. */
export interface KubeletSettings {
  readonly nodeName: string;
  /** How late the end of a container is noticed: a real kubelet relists every second, this one need not. */
  readonly relistMs: number;
  /** Pause after a sync that failed (backOffPeriod 10 s and jitter up to a half); a waiting reason is seen only then. */
  readonly syncRetryMs: number;
  /** First pause of the image and the restart back-off; doubles up to `maxBackOffMs`. */
  readonly backOffMs: number;
  readonly maxBackOffMs: number;
  /**
   * How long an object that a volume is made of may be late without a word: the volume manager's loops take that long
   * before they look, so a Secret that follows its Job at once is in time.
   */
  readonly mountPatienceMs: number;
  /** First pause after a volume that could not be set up; doubles up to 2 min 2 s. */
  readonly mountRetryMs: number;
  /** containerLogMaxSize, containerLogMonitorInterval (0: at each write, as CRI-O's own limit), containerLogMaxFiles. */
  readonly maxLogBytes: number;
  readonly logCheckMs: number;
  readonly maxLogFiles: number;
}

export const DEFAULT_KUBELET_SETTINGS: KubeletSettings = {
  nodeName: 'sandbox',
  relistMs: 0,
  syncRetryMs: 12_000,
  backOffMs: 10_000,
  maxBackOffMs: 300_000,
  mountPatienceMs: 250,
  mountRetryMs: 500,
  maxLogBytes: 10 * 1024 ** 2,
  logCheckMs: 10_000,
  maxLogFiles: 5,
};

/** What a container gets at least between SIGTERM and SIGKILL, whatever the grace period says. */
export const MINIMUM_GRACE_MS = 2000;
