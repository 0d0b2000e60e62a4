import { createBullBoard } from '@bull-board/api'
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter'
import { HonoAdapter } from '@bull-board/hono'
import { serveStatic } from '@hono/node-server/serve-static'
import { httpService, type Listening, Problem } from '@keyspec-systems/program/http'
import type { Broker } from '../worker/broker.ts'

// Its page asks another host for a font; it does without.
const policy = [
  "default-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/**
 * Serves Bull Board over the queues, on this machine alone, only to look at, and loading nothing from elsewhere; any free
 * port unless told.
 */
export async function serveBoard(broker: Broker, port = 0): Promise<Listening> {
  const board = new HonoAdapter(serveStatic)
  createBullBoard({
    queues: Object.values(broker.queues).map((queue) => new BullMQAdapter(queue, { readOnlyMode: true })),
    serverAdapter: board,
  })
  // The board's own handler answers with the words of the error.
  board.setErrorHandler((error) => {
    console.error(`The board failed: ${error.message}`)
    return { status: 500, body: new Problem(500, 'The board failed').document }
  })
  const { url, close } = await httpService({
    routes: {},
    mount(app) {
      app.use(async (context, next) => {
        await next()
        context.header('Content-Security-Policy', policy)
      })
      app.route('/', board.registerPlugin())
    },
  }).listen(port)
  return { url: `${url}/`, close }
}
