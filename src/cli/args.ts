import * as Args from '@oclif/core/args';

export const nameArg = Args.string({ description: 'name of the installation', required: true });

export const bundleDescription = 'a bundle.json, a folder that holds one, or - for standard input';
