import { closeSync, readdirSync, readFileSync } from 'node:fs';

/**
 * Descriptors that were open in the shell the CLI was started from are still open here, and would be in the containers.
 * Node marks all of its own with close-on-exec (octal 02000000 in fdinfo, proc(5)).
 */
export function closeInheritedDescriptors(): void {
  for (const name of readdirSync('/proc/self/fd')) {
    const descriptor = Number(name);
    if (descriptor <= 2) continue;
    try {
      const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${name}`, 'utf8'))?.[1] ?? '0';
      if ((Number.parseInt(flags, 8) & 0o2000000) === 0) closeSync(descriptor);
    } catch {
      // The listing's own descriptor.
    }
  }
}
