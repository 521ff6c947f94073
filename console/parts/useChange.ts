/** A request that changes something: afterwards, all that is shown is loaded again. */
import { type UseMutationOptions, useMutation, useQueryClient } from "@tanstack/react-query"

export const useChange = <A, E, V>(options: UseMutationOptions<A, E, V>, onDone?: (answer: A) => void) => {
  const queryClient = useQueryClient()
  return useMutation({
    ...options,
    onSuccess: (answer) => {
      onDone?.(answer)
      return queryClient.invalidateQueries()
    }
  })
}
