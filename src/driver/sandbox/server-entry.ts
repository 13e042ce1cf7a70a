import self from 'node:process';
import { runServerProgram } from './server-program.js';

// The one file of the sandbox that works when it is loaded: the start of a process, `node <this> FOLDER VERSION`.
void runServerProgram(self, self.argv.slice(2));
