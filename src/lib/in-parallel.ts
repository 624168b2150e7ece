export async function inParallel<Item>(
  items: readonly Item[],
  jobs: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const left = [...items]
  const workers = Array.from({ length: Math.min(jobs, items.length) }, async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item)
  })
  await Promise.all(workers)
}
