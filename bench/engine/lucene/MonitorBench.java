// Runs Lucene Monitor on the workload, with the same protocol as runner.ts.
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.core.KeywordAnalyzer;
import org.apache.lucene.analysis.miscellaneous.PerFieldAnalyzerWrapper;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.Term;
import org.apache.lucene.monitor.MatchingQueries;
import org.apache.lucene.monitor.Monitor;
import org.apache.lucene.monitor.MonitorConfiguration;
import org.apache.lucene.monitor.MonitorQuery;
import org.apache.lucene.monitor.Presearcher;
import org.apache.lucene.monitor.QueryMatch;
import org.apache.lucene.monitor.TermFilteredPresearcher;
import org.apache.lucene.monitor.TermWeightor;
import org.apache.lucene.search.BooleanClause.Occur;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.PhraseQuery;
import org.apache.lucene.search.PrefixQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.TermQuery;

public final class MonitorBench {
  private static final String TEXT = "text";
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private final Monitor monitor;
  private final List<String[]> events;
  private final int training;
  private int next;

  public static void main(String[] arguments) throws IOException {
    String presearcher = arguments[0];
    List<String[]> events = lines(arguments[1], Long.MAX_VALUE).map(line -> line.split("\t")).collect(Collectors.toList());
    int count = Integer.parseInt(arguments[3]);
    int training = Integer.parseInt(arguments[4]);
    new MonitorBench(presearcher, events, arguments[2], count, training).serve();
  }

  private MonitorBench(String presearcher, List<String[]> events, String rules, int count, int training) throws IOException {
    this.events = events;
    this.training = training;
    this.next = training;
    Analyzer analyzer =
        new PerFieldAnalyzerWrapper(new KeywordAnalyzer(), Collections.singletonMap(TEXT, new StandardAnalyzer()));
    // Few large commits load fastest.
    MonitorConfiguration configuration = new MonitorConfiguration().setQueryUpdateBufferSize(20_000);
    monitor = new Monitor(analyzer, presearcherOf(presearcher), configuration);

    List<MonitorQuery> queries = new ArrayList<>();
    long before = heapBytes();
    try (Stream<String> stream = lines(rules, count)) {
      for (Iterator<String> lines = stream.iterator(); lines.hasNext(); ) {
        queries.add(new MonitorQuery(Integer.toString(queries.size()), read(Arrays.asList(lines.next().split(" ")).iterator())));
      }
    }
    long start = THREADS.getCurrentThreadCpuTime();
    monitor.register(queries);
    long micros = (THREADS.getCurrentThreadCpuTime() - start) / 1_000;
    queries.clear();
    long bytes = heapBytes() - before;
    answer(String.format("{\"addMicros\":%.2f,\"bytesPerRule\":%.1f}", (double) micros / count, (double) bytes / count));
  }

  private void serve() throws IOException {
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = input.readLine(); line != null; line = input.readLine()) {
      String[] words = line.split(" ");
      long amount = words.length > 1 ? Long.parseLong(words[1]) : 0;
      switch (words[0]) {
        case "round" -> round(amount * 1_000_000);
        case "sets" -> sets((int) amount);
        default -> answer("null");
      }
    }
    monitor.close();
    System.exit(0);
  }

  private void round(long nanos) throws IOException {
    long start = THREADS.getCurrentThreadCpuTime();
    long used = 0;
    int count = 0;
    long matches = 0;
    while (used < nanos) {
      matches += match(take()).getMatchCount();
      count++;
      used = THREADS.getCurrentThreadCpuTime() - start;
    }
    answer("{\"events\":" + count + ",\"cpuMicros\":" + used / 1_000 + ",\"matches\":" + matches + "}");
  }

  private void sets(int count) throws IOException {
    List<String> all = new ArrayList<>();
    for (String[] event : events.subList(training, Math.min(events.size(), training + count))) {
      all.add(
          match(event).getMatches().stream()
              .map(found -> Integer.valueOf(found.getQueryId()))
              .sorted()
              .map(String::valueOf)
              .collect(Collectors.joining(",", "\"", "\"")));
    }
    answer(all.toString());
  }

  private String[] take() {
    String[] event = events.get(next);
    next = next + 1 < events.size() ? next + 1 : training;
    return event;
  }

  /** Building the document is part of the match, as reading the record is for the others. */
  private MatchingQueries<QueryMatch> match(String[] event) throws IOException {
    Document document = new Document();
    document.add(new TextField(TEXT, event[0], Field.Store.NO));
    for (int column = 1; column < event.length; column++) {
      int equals = event[column].indexOf('=');
      document.add(
          new StringField(event[column].substring(0, equals), event[column].substring(equals + 1), Field.Store.NO));
    }
    return monitor.match(document, QueryMatch.SIMPLE_MATCHER);
  }

  private Presearcher presearcherOf(String name) {
    switch (name) {
      case "term":
        return new TermFilteredPresearcher();
      case "frequency":
        return new TermFilteredPresearcher(rarestFirst(), Collections.emptyList(), Collections.emptySet());
      default:
        throw new IllegalArgumentException("No presearcher \"" + name + "\"");
    }
  }

  /** By the number of training events that have the term. */
  private TermWeightor rarestFirst() {
    Map<Term, Integer> frequencies = new HashMap<>();
    for (String[] event : events.subList(0, training)) {
      HashSet<Term> terms = new HashSet<>();
      for (String word : event[0].toLowerCase().split("[^a-z0-9]+")) {
        terms.add(new Term(TEXT, word));
      }
      for (int column = 1; column < event.length; column++) {
        int equals = event[column].indexOf('=');
        terms.add(new Term(event[column].substring(0, equals), event[column].substring(equals + 1)));
      }
      terms.forEach(term -> frequencies.merge(term, 1, Integer::sum));
    }
    return term -> 1.0 / (1 + frequencies.getOrDefault(term, 0));
  }

  /** Polish notation: a sign, then its clauses. */
  private static Query read(Iterator<String> tokens) {
    String token = tokens.next();
    String rest = token.substring(1);
    switch (token.charAt(0)) {
      case '&':
      case '|':
        BooleanQuery.Builder both = new BooleanQuery.Builder();
        for (int clauses = Integer.parseInt(rest); clauses > 0; clauses--) {
          Query clause = read(tokens);
          if (clause instanceof Negated) {
            both.add(((Negated) clause).clause, Occur.MUST_NOT);
          } else {
            both.add(clause, token.charAt(0) == '&' ? Occur.MUST : Occur.SHOULD);
          }
        }
        return both.build();
      case '!':
        return new Negated(read(tokens));
      case 'w':
        return new TermQuery(new Term(TEXT, rest));
      case '*':
        return new PrefixQuery(new Term(TEXT, rest));
      case 'p':
        return new PhraseQuery(TEXT, rest.split("_"));
      case 'f':
        int equals = rest.indexOf('=');
        return new TermQuery(new Term(rest.substring(0, equals), rest.substring(equals + 1)));
      default:
        throw new IllegalArgumentException("Cannot read the rule: \"" + token + "\" is none of its signs");
    }
  }

  /** Only ever a clause of a conjunction, which takes it out again. */
  private static final class Negated extends Query {
    final Query clause;

    Negated(Query clause) {
      this.clause = clause;
    }

    @Override
    public String toString(String field) {
      return "-" + clause.toString(field);
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Negated && ((Negated) other).clause.equals(clause);
    }

    @Override
    public int hashCode() {
      return ~clause.hashCode();
    }
  }

  private static Stream<String> lines(String file, long limit) throws IOException {
    return Files.lines(Paths.get(file), StandardCharsets.UTF_8).limit(limit);
  }

  private static long heapBytes() {
    System.gc();
    System.gc();
    Runtime runtime = Runtime.getRuntime();
    return runtime.totalMemory() - runtime.freeMemory();
  }

  private static void answer(String json) {
    System.out.println(json);
  }
}
