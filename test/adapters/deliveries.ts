/** Of what a platform's stream tells, only the events. */
import { Chunk, Option, Stream } from "effect"
import type { Delivery, Platform } from "../../core/platforms/Platform.ts"

export const deliveriesOf = (
  platform: Pick<Platform, "watch">,
  from: Option.Option<string> = Option.none()
): Stream.Stream<Delivery> =>
  Stream.chunks(platform.watch(from)).pipe(
    Stream.map(Chunk.filterMap((signal) => (signal._tag === "Event" ? Option.some(signal.delivery) : Option.none()))),
    Stream.filter(Chunk.isNonEmpty),
    Stream.flattenChunks
  )
