import APNSProtocol
import Testing

@testable import Delivery

@Suite struct AppDirectoryTests {
    @Test func everyConfiguredAppIsFoundAndNoOther() {
        let names = (0..<1_000).map { "com.example.app\($0)" }
        let apps = AppDirectory(
            names.map { AppDirectory.App(bundleID: $0, defaultEnvironment: .production, production: .init(0)) })
        for (index, name) in names.enumerated() { #expect(find(name, in: apps) == index) }
        for name in ["", "com.example.app", "com.example.app1000", "COM.EXAMPLE.APP1"] {
            #expect(find(name, in: apps) == nil)
        }
        #expect(find("", in: AppDirectory([])) == nil)
    }

    private func find(_ name: String, in apps: AppDirectory) -> AppDirectory.Index? {
        Array(name.utf8).withUnsafeBytes { apps.find($0) }
    }

    // The search compares most bundle IDs only by their beginning and end.
    @Test(arguments: [
        ("com.example.shpo", "com.example.shop"), ("con.example.shop", "com.example.shop"), ("net.unlike", nil),
        ("", nil),
    ])
    func theNearestOfManyAppsIsSuggested(name: String, nearest: String?) {
        let names = (0..<30).map { "org.another\($0).app" } + ["com.example.shop"]
        let apps = AppDirectory(
            names.map { AppDirectory.App(bundleID: $0, defaultEnvironment: .production, production: .init(0)) })
        #expect(apps.nearest(to: name) == nearest)
    }

    @Test func everyKindOfPushHasItsOwnRoute() {
        let apps = AppDirectory([
            AppDirectory.App(
                bundleID: "one", defaultEnvironment: .sandbox, production: .init(device: 4, broadcast: 5),
                sandbox: .init(1)),
            AppDirectory.App(bundleID: "two", defaultEnvironment: .sandbox, sandbox: .init(2)),
        ])
        let numbers = (0..<2).flatMap { app in
            AppDirectory.Kind.all.flatMap { kind in
                APNSEnvironment.allCases.map {
                    AppDirectory.routeNumber(topic: apps.topicIndex(of: app, kind), $0)
                }
            }
        }
        #expect(numbers == Array(numbers.indices))
        #expect(apps.topic(apps.topicIndex(of: 1, .broadcast)) == Array("two".utf8))
        #expect(apps.topic(apps.topicIndex(of: 1, .device(.voip))) == Array("two.voip".utf8))
        // An operator can pause each topic by its name, which the log contains.
        #expect(apps.routes(of: "one/broadcasts").map(\.pool) == [5, 1])
        #expect(apps.routes(of: "one.push-type.liveactivity").map(\.pool) == [4, 1])
        for name in ["one/broadcasts", "one.voip", "two/broadcasts"] {
            #expect(apps.routes(of: name).allSatisfy { apps.topic(of: $0) == name }, "\(name)")
        }
        #expect(apps.bundleIDs(servedBy: [5]) == ["one"])
    }

    @Test func aKindWithoutAPoolHasNoRoute() {
        let apps = AppDirectory([
            AppDirectory.App(
                bundleID: "calls", defaultEnvironment: .sandbox, sandbox: .init { $0 == .device(.voip) ? 3 : nil })
        ])
        #expect(apps.routes(of: "calls.voip").map(\.pool) == [3])
        #expect(apps.routes(of: "calls").isEmpty)
        #expect(apps.route(topic: apps.topicIndex(of: 0, .device(.alert)), .sandbox) == nil)
        #expect(apps.route(topic: apps.topicIndex(of: 0, .device(.voip)), .production) == nil)
        #expect(apps.bundleIDs(servedBy: [3]) == ["calls"] && apps.bundleIDs(servedBy: [0]).isEmpty)
    }

    @Test func theAppsThatAPoolServesAreNamed() {
        let apps = AppDirectory([
            AppDirectory.App(bundleID: "both", defaultEnvironment: .sandbox, production: .init(0), sandbox: .init(1)),
            AppDirectory.App(bundleID: "sandbox", defaultEnvironment: .sandbox, sandbox: .init(1)),
            AppDirectory.App(bundleID: "another", defaultEnvironment: .sandbox, sandbox: .init(2)),
        ])
        #expect(apps.bundleIDs(servedBy: [0]) == ["both"])
        #expect(apps.bundleIDs(servedBy: [0, 1]) == ["both", "sandbox"])
    }
}
