/** What a release consists of besides its own code. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

const ROOT = new URL('../', import.meta.url)

interface LockedPackage {
  readonly version?: string
  readonly license?: string
  readonly dev?: boolean
  readonly resolved?: string
  readonly integrity?: string
}

/** Packages that come with intentd, by the lock file: name, version and licence, a line each. */
export function listLicences(): string {
  const { packages } = JSON.parse(readFileSync(new URL('package-lock.json', ROOT), 'utf8')) as {
    readonly packages: Readonly<Record<string, LockedPackage>>
  }
  const lines = Object.entries(packages)
    .filter(([path, { dev }]) => path !== '' && dev !== true)
    .map(([path, { version, license }]) => {
      const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
      return `${name}@${version}  ${license ?? 'see its own files'}\n`
    })
  return [...new Set(lines)].toSorted().join('')
}

/** Everything in the lock file with digests, in CycloneDX, as npm writes it: what only the tests want is marked. */
export function writeBillOfMaterials(): string {
  const words = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only']
  return execFileSync('npm', words, { cwd: ROOT, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
}
