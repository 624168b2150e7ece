export const PAGE_SCRIPT = `
const report = JSON.parse(document.getElementById('report').textContent)
const charts = [...document.querySelectorAll('.chart')]
const valuesOf = (path) => path.split('/').reduce((part, key) => part && part[key], report)
const show = (value, unit) => value === null || value === undefined ? '–'
  : unit === 'share' ? (value * 100).toFixed(2) + ' %'
  : value.toLocaleString('en-US', unit === 'price' ? { maximumSignificantDigits: 8 } : { maximumFractionDigits: 2 })
function readOut(group, share) {
  for (const chart of charts) {
    if (chart.dataset.group !== group) continue
    const { start, step, count, unit } = chart.dataset
    const bucket = Math.max(0, Math.min(count - 1, Math.floor(share * count)))
    const cursor = chart.querySelector('.cursor')
    cursor.style.display = share < 0 ? 'none' : 'block'
    cursor.style.left = ((bucket + 0.5) / count) * 100 + '%'
    chart.querySelector('time').textContent = share < 0 ? ''
      : new Date(Number(start) + bucket * step).toISOString().slice(0, 16).replace('T', ' ')
    for (const key of chart.querySelectorAll('.key[data-path]')) {
      key.querySelector('b').textContent = share < 0 ? '' : show((valuesOf(key.dataset.path) || [])[bucket], unit)
    }
  }
}
for (const chart of charts) {
  const plot = chart.querySelector('.plot')
  plot.addEventListener('pointermove', (event) => {
    const { left, width } = plot.getBoundingClientRect()
    readOut(chart.dataset.group, (event.clientX - left) / width)
  })
  plot.addEventListener('pointerleave', () => readOut(chart.dataset.group, -1))
}
`
