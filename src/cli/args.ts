import * as Args from '@oclif/core/args';

/**
 * Arguments come from the command line alone. The framework would fill a missing one from standard input: in a
 * `while read` loop the rest of the list became the BUNDLE, and `cnab uninstall` took a name from a pipe.
 */
export const fromCommandLine = { ignoreStdin: true } as const;

export const nameArg = Args.string({ ...fromCommandLine, description: 'name of the installation', required: true });

export const bundleDescription = 'a bundle.json, a folder that holds one, or - for standard input';
