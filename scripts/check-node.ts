/** Compares the Node that runs this with deploy/node-checksums.txt: in `.ci/run` and before a package is made. */
import { examineNodeBinary } from '../src/cli/doctor/examine-machine.ts'

const { kind, path, sha256, from } = await examineNodeBinary()
if (kind === 'changed') {
  process.stderr.write(`NODE_CHANGED: ${path} is not what its package holds\n  sha256  ${sha256}\n`)
  process.exitCode = 1
} else if (kind === 'listed') process.stdout.write(`node: as in ${from}\n`)
else process.stdout.write(`node: ${path} is not listed, sha256 ${sha256}\n`)
