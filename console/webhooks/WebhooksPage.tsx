/** To be written. */
export const WebhooksPage = () => <h1>Webhooks</h1>
