// The licences of what a build has taken into its files: whoever passes them on passes these texts on with them.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const LICENCE = /^(licen[cs]e|copying|notice)(\..*)?$/i;

/**
 * One text for all packages that the metafiles of esbuild name. Throws where a package says nothing of its licence.
 * @param {string} root folder that the metafiles' paths begin in
 * @param {readonly import('esbuild').Metafile[]} metafiles
 */
export function noticesOf(root, metafiles) {
  const folders = new Set(
    metafiles
      .flatMap(({ inputs }) => Object.keys(inputs))
      .map((input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(input)?.[0])
      .filter((folder) => folder !== undefined && existsSync(join(root, folder, 'package.json'))),
  );
  const notices = [...folders].map((folder) => noticeOf(join(root, folder))).sort();
  return `This program contains the packages below, each under its own licence.\n\n${notices.join('\n')}`;
}

function noticeOf(folder) {
  const { name, version, license, author } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  if (typeof license !== 'string') throw new Error(`${name} ${version} does not say under which licence it is`);
  const texts = readdirSync(folder)
    .filter((file) => LICENCE.test(file))
    .sort()
    .map((file) => readFileSync(join(folder, file), 'utf8').trim());
  const by = typeof author === 'string' ? author : author?.name;
  const text = texts.length > 0 ? texts.join('\n\n') : `No text beside it${by === undefined ? '' : `; author: ${by}`}.`;
  return `${'='.repeat(100)}\n${name} ${version}: ${license}\n\n${text}\n`;
}
