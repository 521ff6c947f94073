/** Hosts in the server's own network, as an attacker spells them in the URL of a webhook, a callback or a document. */

export const OWN_HOSTS = [
  "127.0.0.1",
  "127.0.0.1.",
  "127.1",
  "127.0.1",
  "2130706433",
  "0x7f000001",
  "0x7f.0.0.1",
  "0177.0.0.1",
  "017700000001",
  "127.000.000.001",
  "①②⑦.⓪.⓪.①",
  "%31%32%37.0.0.1",
  "0",
  "0.0.0.0",
  "[::]",
  "[::1]",
  "[0:0:0:0:0:0:0:1]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[::127.0.0.1]",
  "[64:ff9b::127.0.0.1]",
  "[64:ff9b:1::127.0.0.1]",
  "[2002:7f00:1::]",
  "[fe80::1]",
  "[fc00::1]",
  "169.254.169.254",
  "2852039166",
  "[::ffff:169.254.169.254]",
  "[fd00:ec2::254]",
  "10.0.0.1",
  "192.168.0.1",
  "100.64.0.1",
  "localhost",
  "LOCALHOST",
  "localhost.",
  "a.localhost"
]

/** Names of public zones, and the addresses behind them. */
export const OWN_NAMES: Readonly<Record<string, string>> = {
  "rebinding.example": "127.0.0.1",
  "metadata.example": "169.254.169.254",
  "mapped.example": "::ffff:127.0.0.1",
  "translated.example": "64:ff9b::7f00:1",
  "zoned.example": "fe80::1%lo"
}
