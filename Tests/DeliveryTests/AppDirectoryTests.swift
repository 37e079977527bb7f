import APNSProtocol
import Testing

@testable import Delivery

@Suite struct AppDirectoryTests {
    @Test func findsEachOfManyAndNoOther() {
        let names = (0..<1_000).map { "com.example.app\($0)" }
        let apps = AppDirectory(
            names.map { AppDirectory.App(bundleID: $0, defaultEnvironment: .production, productionPool: 0) })
        for (index, name) in names.enumerated() { #expect(apps.find(Array(name.utf8)) == index) }
        for name in ["", "com.example.app", "com.example.app1000", "COM.EXAMPLE.APP1"] {
            #expect(apps.find(Array(name.utf8)) == nil)
        }
        #expect(AppDirectory([]).find([]) == nil)
    }

    @Test func theAppsThatAPoolServesAreNamed() {
        let apps = AppDirectory([
            AppDirectory.App(bundleID: "both", defaultEnvironment: .sandbox, productionPool: 0, sandboxPool: 1),
            AppDirectory.App(bundleID: "sandbox", defaultEnvironment: .sandbox, sandboxPool: 1),
            AppDirectory.App(bundleID: "another", defaultEnvironment: .sandbox, sandboxPool: 2),
        ])
        #expect(apps.bundleIDs(servedBy: [0]) == ["both"])
        #expect(apps.bundleIDs(servedBy: [0, 1]) == ["both", "sandbox"])
    }
}
