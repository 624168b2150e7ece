import type { Endpoint } from '../../protocol/endpoint.ts'

/** Plain HTML without script. The cells come from our own tables, which contain no markup. */
export function renderFrontPage(endpoints: readonly Endpoint[]): string {
  const rows = endpoints.map(renderRow).join('\n')
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Exchange simulator</title>
<h1>Exchange simulator</h1>
<p>A simulated derivatives exchange: simulated prices, simulated money, a real wire. Requests must be
signed, are counted against the documented limits, and are refused with the codes of the real exchange.</p>
<table>
<tr><th>Method<th>Path<th>Signed<th>Limit
${rows}
</table>
</html>
`
}

function renderRow({ method, path, auth, limit }: Endpoint): string {
  const calls = `${limit.calls} in ${limit.perMs} ms a ${limit.scope === 'ip' ? 'client address' : 'user'}`
  const cells = [method, path, SIGNED[auth], calls]
  return `<tr><td>${cells.join('<td>')}`
}

const SIGNED = { public: 'no', schemeA: 'scheme A', schemeB: 'scheme B' } as const
