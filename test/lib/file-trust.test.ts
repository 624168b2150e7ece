import {
  chmodSync,
  chownSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { findFileFault, trustIn } from '../../src/lib/file-trust.ts'

const user = process.geteuid?.() ?? 0
const trust = trustIn(user)
/** No user of this machine. */
const STRANGER = 4_000_123
const root = realpathSync(mkdtempSync(join(tmpdir(), 'intentd-trust-')))
afterAll(() => rmSync(root, { recursive: true, force: true }))

/** A file in two folders of its own. */
function plant(name: string): { readonly folder: string; readonly file: string } {
  const folder = join(root, name, 'config')
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'main.yaml')
  writeFileSync(file, '')
  chmodSync(file, 0o644)
  return { folder, file }
}

describe.skipIf(process.geteuid === undefined)(
  'a file (not checked where there are no modes)',
  () => {
    test('that its owner alone may change is trusted, in a sticky folder too, and where it is not there yet', () => {
      const { folder, file } = plant('good')
      chmodSync(folder, 0o1777)

      expect(findFileFault(file, trust)).toBeUndefined()
      expect(findFileFault(join(folder, 'later', 'main.yaml'), trust)).toBeUndefined()
    })

    test('that others may write is not', () => {
      const { file } = plant('open')
      chmodSync(file, 0o666)

      expect(findFileFault(file, trust)).toEqual({
        place: file,
        fault: 'may be changed by others (mode 666)',
        remedy: `chmod go-w ${file}`,
      })
    })

    test('that others may replace in a folder on the way is not', () => {
      const { folder, file } = plant('folder')
      chmodSync(join(folder, '..'), 0o777)

      expect(findFileFault(file, trust)).toMatchObject({ place: join(root, 'folder') })
    })

    test('behind a link is judged with all that the link passes', () => {
      const { folder, file } = plant('behind')
      const open = join(root, 'open-links')
      mkdirSync(open)
      chmodSync(open, 0o777)
      symlinkSync(folder, join(open, 'second'))
      symlinkSync(join(open, 'second'), join(root, 'first'))

      expect(findFileFault(file, trust)).toBeUndefined()
      expect(findFileFault(join(root, 'first', 'main.yaml'), trust)).toMatchObject({ place: open })
    })

    test('behind links that lead in a circle ends the search', () => {
      symlinkSync(join(root, 'one'), join(root, 'other'))
      symlinkSync(join(root, 'other'), join(root, 'one'))

      expect(findFileFault(join(root, 'one', 'main.yaml'), trust)).toBeUndefined()
    })

    test('that a group may write is trusted only where the group is the own one of a trusted user', () => {
      const { file } = plant('group')
      chmodSync(file, 0o664)

      expect(findFileFault(file, { ...trust, groups: new Set() })).toMatchObject({ place: file })
      expect(
        findFileFault(file, { ...trust, groups: new Set([process.getegid?.() ?? 0]) }),
      ).toBeUndefined()
    })

    test.skipIf(user !== 0)('of another user is not, nor is a link of one (as root only)', () => {
      const { file } = plant('foreign')
      chownSync(file, STRANGER, STRANGER)
      expect(findFileFault(file, trust)).toMatchObject({
        place: file,
        fault: `belongs to user ${STRANGER}`,
      })
      expect(findFileFault(file, trustIn(STRANGER))).toBeUndefined()

      const { folder } = plant('linked')
      const link = join(root, 'link')
      symlinkSync(folder, link)
      lchownSync(link, STRANGER, STRANGER)
      expect(findFileFault(join(link, 'main.yaml'), trust)).toMatchObject({ place: link })
    })
  },
)
