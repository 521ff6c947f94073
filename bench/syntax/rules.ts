/** Typical rules of about 200 characters. The Firehose rules use only syntax that all parsers here support. */

export const firehoseRules: ReadonlyArray<string> = [
  `(title:tesla OR title:rivian OR added:"electric vehicle") AND language:en AND page_category:"/News" AND NOT domain:example.com AND NOT title:sponsored AND (added:battery OR added:recall OR added:"software update")`,
  `(title:"acme corporation" OR added:"acme corp" OR domain:acme.com) AND language:en AND NOT page_category:"/Jobs_and_Education" AND NOT added:careers AND (added:lawsuit OR added:acquisition OR added:merger OR added:layoffs)`,
  `added:earthquake AND (added:magnitude OR added:epicenter OR added:"richter scale") AND page_category:"/News" AND (language:en OR language:es OR language:ja) AND NOT title:drill AND NOT added:"world record" AND title:quake`,
  `title:"data breach" AND (added:"social security" OR added:passwords OR added:"credit card" OR added:"personal data") AND page_type:"/Article" AND language:en AND NOT domain:reddit.com AND NOT added:webinar AND dr:50`,
  `(added:"series a" OR added:"series b" OR added:"seed round") AND (added:raised OR added:raises OR added:funding) AND (title:startup OR title:funding) AND language:en AND domain:techcrunch.com AND NOT title:opinion`,
  `removed:"money back guarantee" AND page_type:"/Landing_Page" AND language:en AND NOT domain:example.org AND (title:pricing OR title:plans OR title:subscribe OR title:buy) AND (added:"no refunds" OR added:"final sale")`
]

export const xRules: ReadonlyArray<string> = [
  `(tesla OR rivian OR "electric vehicle") (battery OR recall OR "software update") lang:en -is:retweet -is:reply -giveaway -from:teslarati has:links (breaking OR confirmed OR #recall OR $TSLA OR @nhtsagov) followers_count:100`,
  `("acme corp" OR "acme corporation" OR @acme OR url:"acme.com") (lawsuit OR acquisition OR merger OR layoffs OR "data breach") lang:en -is:retweet -from:acme -jobs -hiring -"we are hiring" (has:links OR has:media) sample:50`,
  `earthquake (magnitude OR epicenter OR "richter scale" OR aftershock) (lang:en OR lang:es OR lang:ja) -is:retweet -drill -simulation -"world record" -from:quakebot (japan OR chile OR mexico OR turkey OR indonesia) has:geo`,
  `(#databreach OR "data breach" OR ransomware) (hospital OR bank OR school OR "local government") lang:en -is:retweet -is:quote -webinar -"register now" -from:vendorspam has:links (confirmed OR notified OR leaked OR stolen)`,
  `("series a" OR "series b" OR "seed round") (raised OR raises OR funding OR investment) -is:retweet lang:en -crypto -nft -giveaway has:links (from:techcrunch OR from:crunchbase OR url:"techcrunch.com" OR @ycombinator) -rumor`,
  `(outage OR "is down" OR "not working" OR offline) (@awscloud OR @cloudflare OR "us-east-1" OR "google cloud" OR azure) -is:retweet -is:reply lang:en -training -certification -hiring followers_count:500..100000 -"how to fix"`
]
