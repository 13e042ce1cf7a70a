import { closeSync, openSync } from 'node:fs';
import { isatty } from 'node:tty';

interface Standard {
  readonly fd: number;
  /** As it was when the program began. */
  readonly isTTY?: boolean;
}

/**
 * For the very end of the process. Node sets terminals back as it found them, and aborts (SIGABRT, a core file) where one
 * of them is gone: seen with 20.20 after SIGHUP. What is no terminal any more is closed, so that it is left alone.
 */
export function letGoOfDeadTerminals(standards: readonly Standard[]): void {
  for (const { fd, isTTY } of standards) {
    if (isTTY !== true || isatty(fd)) continue;
    closeSync(fd);
    // The lowest number that is free: whatever still writes to it must not meet another file.
    openSync('/dev/null', 'r+');
  }
}
