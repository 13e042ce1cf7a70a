import { error, warning, type Finding } from '../problem.js';
import type { BundleView } from '../view.js';

/** Names under which commands, logs and records speak of an entry. The spec leaves them open. */
export function entryNamesRule(view: BundleView): readonly Finding[] {
  const sections = ['parameters', 'credentials', 'outputs', 'actions'] as const;
  return sections.flatMap((section) => view[section].flatMap(([name]) => checkName(section, name)));
}

function checkName(section: string, name: string): readonly Finding[] {
  const kind = section.slice(0, -1);
  if (name === '') return [error([section, name], `the name of this ${kind} is empty: give it one`, 'key')];
  if (/\p{Surrogate}/u.test(name)) {
    return [
      error(
        [section, name],
        `the name of this ${kind} holds half a character (a lone surrogate): write another`,
        'key',
      ),
    ];
  }
  if (/\p{Cc}/u.test(name))
    return [
      warning([section, name], `the name of this ${kind} holds a control character, which is hard to type`, 'key'),
    ];
  if (section === 'parameters' && name.includes('=')) {
    return [warning([section, name], 'the name of this parameter holds "=": it can be set from a file only', 'key')];
  }
  return [];
}
