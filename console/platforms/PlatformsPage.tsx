/** All platforms: their streams, rules, usage and coverage. */
import { useQuery } from "@tanstack/react-query"
import { problemOf, useTRPC } from "../client.ts"
import { ProblemNote } from "../parts/ProblemNote.tsx"
import { useTitle } from "../parts/useTitle.ts"
import { Waiting } from "../parts/Waiting.tsx"
import { Feeds } from "./Feeds.tsx"
import { Offers } from "./Offers.tsx"
import { PlatformCard } from "./PlatformCard.tsx"

export const PlatformsPage = () => {
  useTitle("Platforms")
  const { data, error, refetch } = useQuery(
    useTRPC().platforms.status.queryOptions(undefined, { refetchInterval: 5_000 })
  )
  return (
    <>
      <div class="head">
        <h1>Platforms</h1>
      </div>
      {error !== null && <ProblemNote problem={problemOf(error)} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Waiting />}
      {data?.platforms.map((platform) => (
        <PlatformCard key={platform.platform} status={platform} />
      ))}
      {data?.platforms.some(({ platform }) => platform === "feeds") === true && <Feeds />}
      {data !== undefined && <Offers platforms={data.platforms} />}
    </>
  )
}
