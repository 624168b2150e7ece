import { afterEach, expect, test, vi } from 'vitest'
import { withoutPlace } from '../../src/lib/without-place.ts'
import { describeThrown } from '../../src/strategy/strategy-failure.ts'

afterEach(() => vi.restoreAllMocks())

/** As a strategy throws it that lies in this folder. */
function thrownIn(folder: string, times: number): Error {
  return Object.assign(new Error(`cannot read ${`${folder}/data/prices.json `.repeat(times)}`), {
    stack: '',
  })
}

test.each([1, 12, 40])(
  '[DET1] a long message is cut at the same word, wherever the folder lies: %i paths',
  (times) => {
    const folders = [process.cwd(), `${process.cwd()}/with/more/folders/above/it`]
    const [short, long] = folders.map((folder) => {
      vi.spyOn(process, 'cwd').mockReturnValue(folder)
      return withoutPlace(describeThrown(thrownIn(folder, times)), folder)
    })

    expect(long).toBe(short)
    expect(short?.length).toBeLessThanOrEqual(300)
  },
)
