import EventLoop
import Registrations
import TestKit
import Testing

/// Tests that ends from an export have the same effect before and after the registrations that they end, apart from
/// exceptions.
@Suite struct RestoreTests {
    private static let setsMax = 2_000

    private static func tombstones(after commands: [RegistrationCommand], in empty: RegistrationModel) throws
        -> [KeyedCommand]
    {
        var source = empty
        for command in commands { try source.apply(command) }
        return source.rows.values.filter { $0.details == nil }.map { .restore(.tombstone($0)) }
    }

    /// Applies commands and ends in both orders, and returns the model.
    private static func restored(
        _ commands: [RegistrationCommand], _ source: [RegistrationCommand]
    ) throws -> RegistrationModel {
        let empty = try RegistrationModel()
        let (keyed, ends) = (try commands.map { try empty.keyed($0) }, try tombstones(after: source, in: empty))
        var (before, after) = (empty, empty)
        for command in ends + keyed { before.apply([command]) }
        for command in keyed + ends { after.apply([command]) }
        #expect(before == after)
        var batch = empty
        batch.apply(keyed + ends)
        #expect(batch == after)
        return after
    }

    @Test func `The end of a token ends all of its users up to its time`() throws {
        let store = try Self.restored(
            [
                .register("bob", "0a", at: 1, shared: true), .register("cid", "0a", at: 2, shared: true),
                .register("dan", "0a", at: 3, shared: true), .register("eve", "0b", at: 1, shared: true),
            ], [.unregister(token: "0a", at: 2)])
        #expect(store.reached == ["dan 0a", "eve 0b"])
    }

    @Test func `An ended token of an installation ends its older tokens`() throws {
        let store = try Self.restored(
            [
                .register("ann", "0a", at: 1, device: "phone"), .register("bob", "0b", at: 1, device: "tablet"),
                .register("ann", "0c", at: 9, device: "phone"),
            ], [.register("ann", "0d", at: 5, device: "phone"), .unregister(token: "0d", at: 6)])
        #expect(store.reached == ["ann 0c", "bob 0b"])
        let older = try Self.restored(
            [.register("ann", "0a", at: 1, device: "phone")],
            [.register("ann", "0d", at: 5, device: "phone"), .unregister(token: "0d", at: 6)])
        #expect(older.reached == [])
    }

    @Test func `An ended shared registration ends the user's older one that was not shared`() throws {
        let store = try Self.restored(
            [.register("ann", "0a", at: 1), .register("bob", "0b", at: 1)],
            [.register("ann", "0a", at: 3, shared: true), .unregister("ann", at: 4)])
        #expect(store.reached == ["bob 0b"])
    }

    /// This is an exception, because the mark of an erasure in all apps does not identify rows.
    @Test func `An erasure in all apps, restored after a registration, keeps it`() throws {
        var (source, store) = (try RegistrationModel(), try RegistrationModel())
        try source.apply(.erase("ann", at: 5))
        store = source
        store.marks = [:]
        try store.apply(.register("ann", "0a", at: 1))
        store.apply(source.marks.values.map { .restore(.mark($0)) })
        #expect(store.reached == ["ann 0a"])
        #expect(try store.apply(.register("ann", "0b", at: 5)).reply == .ended)
        // The remedy of the operator's guide.
        try store.apply(.erase("ann", at: 5))
        #expect(store.reached == [])
    }

    @Test func `Any order of random commands and ends gives the same rows and marks`() throws {
        var random = SeededRandom(seed: 51)
        let empty = try RegistrationModel()
        var comparedCount = 0
        while comparedCount < Self.setsMax {
            let set = CommandSet(&random, count: 12)
            guard !set.isException else { continue }
            comparedCount += 1
            let keyed =
                try set.commands.prefix(6).map { try empty.keyed($0) }
                + Self.tombstones(after: Array(set.commands.dropFirst(6)), in: empty)
            var expected = empty
            expected.apply(keyed)
            for _ in 0..<2 {
                var store = empty
                for command in keyed.shuffled(using: &random) { store.apply([command]) }
                guard store.withoutSuspicions != expected.withoutSuspicions else { continue }
                Issue.record("set \(comparedCount): \(set.commands)")
                return
            }
        }
    }
}
