import BrokerTopology
import Testing

@Suite struct BindingKeyTests {
    @Test(arguments: [
        ("a", "a"), ("a", "*"), ("a", "#"), ("#", "#"), ("", ""), ("", "#"), ("a.b", "a.#"), ("a", "a.#"),
        ("a.*", "*.b"), ("#.b", "a.#"), ("a.#.c", "a.*.b.c"), ("a.#.c", "#.b.c"), ("*.*", "a.#.b"), ("#.#", "*"),
        ("order.#", "order.mail.*"), ("*", "#.a"),
    ]) func overlappingKeys(_ one: String, _ other: String) {
        #expect(BindingKey.overlap(one, other))
        #expect(BindingKey.overlap(other, one))
    }

    @Test(arguments: [
        ("a", "b"), ("a", "a.b"), ("*", "*.*"), ("a.#", "b.#"), ("a.*", "a"), ("#.a", "#.b"), ("*.a", "#.b.*.c"),
        ("order.#", "orders"), ("a.*.c", "a.c"), ("", "a"),
    ]) func disjointKeys(_ one: String, _ other: String) {
        #expect(!BindingKey.overlap(one, other))
        #expect(!BindingKey.overlap(other, one))
    }
}
