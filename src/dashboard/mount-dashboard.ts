import type { Hono } from 'hono'
import { loadPage, type DashboardPage, PAGE_PATHS } from './page-files.ts'

/** These files hold nothing of the daemon, so they need no token. */
export function mountDashboard(app: Hono): void {
  let loading: Promise<DashboardPage> | undefined
  for (const path of PAGE_PATHS) {
    app.get(path, async (context) => {
      const { files, policy } = await (loading ??= loadPage())
      const file = files.get(path)
      if (file === undefined) return context.notFound()
      const { type, body, packed, etag } = file
      context.header('ETag', etag)
      // Browsers revalidate each time; an unchanged file costs a 304.
      context.header('Cache-Control', 'no-cache')
      context.header('Vary', 'Accept-Encoding')
      if (path === '/') context.header('Content-Security-Policy', policy)
      if (context.req.header('if-none-match') === etag) return context.body(null, 304)
      const isPacked = /\bgzip\b/.test(context.req.header('accept-encoding') ?? '')
      if (isPacked) context.header('Content-Encoding', 'gzip')
      return context.body(isPacked ? packed : body, 200, { 'Content-Type': type })
    })
  }
}
