import Testing

@testable import RegistrationStores

@Suite struct PostgresAppsTests {
    @Test func `An app with a smaller number that is committed later is read`() {
        var apps = PostgresApps()
        for (name, number) in [("a", 1), ("b", 2), ("d", 4)] { apps.insert(name, number: number) }
        #expect(apps.lastContiguousNumber == 2)
        apps.insert("c", number: 3)
        #expect(apps.lastContiguousNumber == 4)
        #expect(apps.all == ["a", "b", "c", "d"])
        apps.insert("d", number: 4)
        #expect(apps.lastContiguousNumber == 4 && apps.count == 4 && apps.name(of: 3) == "c")
    }
}
