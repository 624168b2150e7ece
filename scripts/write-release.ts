/**
 * Makes what is published of a version, in the directory that is named: the package, what it consists of (`sbom.cdx.json`,
 * CycloneDX), under which licences (`third-party-licences.txt`), and `SHA256SUMS` of these. `npm run release -- DIR`
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { listLicences, writeBillOfMaterials } from './release-contents.ts'

const [given] = process.argv.slice(2)
if (given === undefined) throw new Error('name a directory: npm run release -- DIR')
const directory = resolve(given)
mkdirSync(directory, { recursive: true })
const old = readdirSync(directory)
if (old.length > 0) throw new Error(`${directory} is not empty: it holds ${old[0]}`)

// No shell: what npm runs it names itself.
execFileSync('npm', ['pack', '--silent', '--pack-destination', directory], { stdio: 'inherit' })
writeFileSync(join(directory, 'sbom.cdx.json'), writeBillOfMaterials())
writeFileSync(join(directory, 'third-party-licences.txt'), listLicences())
const sums = readdirSync(directory)
  .toSorted()
  .map((name) => {
    const sum = createHash('sha256')
      .update(readFileSync(join(directory, name)))
      .digest('hex')
    return `${sum}  ${name}\n`
  })
writeFileSync(join(directory, 'SHA256SUMS'), sums.join(''))
process.stdout.write(sums.join(''))
