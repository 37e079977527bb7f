// swift-tools-version: 6.2
import PackageDescription

/// The profile of a worker under load, which guides the optimization of release builds (decision 28).
/// `deploy/check/profile` writes the profile. Another version of the compiler may be unable to read the profile.
#if compiler(>=6.3) && compiler(<6.4)
    let profile = Context.packageDirectory + "/Sources/martlet/martlet.profdata"
    let isCounting = Context.environment["MARTLET_PROFILE"] != nil
    let profileFlags = [
        "-Xfrontend", isCounting ? "-ir-profile-generate" : "-ir-profile-use=" + profile,
        // The profile identifies private functions by the name of their object file. The option strips the folder.
        "-Xllvm", "-static-func-strip-dirname-prefix=99",
    ]
#else
    let profileFlags: [String] = []
#endif

/// Settings of all Swift targets. A warning fails the build.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    // Release builds omit the runtime's exclusivity checks. Tests run in debug builds, which keep them (decision 7).
    .unsafeFlags(["-enforce-exclusivity=unchecked"] + profileFlags, .when(configuration: .release)),
]

/// A C library of the distribution, imported through its module map. The architecture page lists the targets that
/// import it.
func clibrary(_ name: String, pkgConfig: String? = nil, apt: String? = nil) -> Target {
    .systemLibrary(name: name, pkgConfig: pkgConfig, providers: apt.map { [.apt([$0])] })
}

func library(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource]? = nil) -> Target {
    .target(name: name, dependencies: dependencies, resources: resources, swiftSettings: settings)
}

/// `data`: files in the target's folder that programs or tests read in place.
func command(_ name: String, _ dependencies: [Target.Dependency], data: [String] = []) -> Target {
    .executableTarget(name: name, dependencies: dependencies, exclude: data, swiftSettings: settings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency], data: [String] = []) -> Target {
    .testTarget(name: name, dependencies: dependencies, exclude: data, swiftSettings: settings)
}

/// The meta-schemas that schemas may reference, as published by json-schema.org.
let metaSchemas: [Resource] = [
    "draft-07", "draft2020-12", "draft2020-12-core", "draft2020-12-applicator", "draft2020-12-unevaluated",
    "draft2020-12-validation", "draft2020-12-meta-data", "draft2020-12-format-annotation",
    "draft2020-12-format-assertion", "draft2020-12-content",
].map { .embedInCode("MetaSchemas/\($0).json") }

/// libFuzzer provides its own `main`, so only the build of `deploy/check/fuzz` contains the fuzzer.
let fuzzer: [Target] =
    Context.environment["MARTLET_FUZZ"] == nil
    ? []
    : [
        .executableTarget(
            name: "martlet-fuzz", dependencies: ["FuzzTargets"],
            swiftSettings: settings + [.unsafeFlags(["-parse-as-library"])])
    ]

let package = Package(
    name: "martlet",
    products: [
        .executable(name: "martlet", targets: ["martlet"]),
        .executable(name: "apns-simulator", targets: ["apns-simulator"]),
        .executable(name: "martlet-bench", targets: ["martlet-bench"]),
    ],
    targets: [
        clibrary("CLinux"),
        clibrary("CRabbitMQ", pkgConfig: "librabbitmq", apt: "librabbitmq-dev"),
        clibrary("CNGHTTP2", pkgConfig: "libnghttp2", apt: "libnghttp2-dev"),
        clibrary("COpenSSL", pkgConfig: "openssl", apt: "libssl-dev"),
        clibrary("CPCRE2", pkgConfig: "libpcre2-8", apt: "libpcre2-dev"),
        clibrary("CYAML", pkgConfig: "yaml-0.1", apt: "libyaml-dev"),
        clibrary("CMicroHTTPD", pkgConfig: "libmicrohttpd", apt: "libmicrohttpd-dev"),
        clibrary("CValgrind"),

        library("Hashing", []),
        library("Threads", ["CLinux"]),
        library("Text", []),
        library("CommandKit", ["Text"]),
        .target(name: "CSwiftJobs"),
        library("EventLoop", ["CLinux", "CSwiftJobs", "Hashing", "Threads"]),
        library("Telemetry", ["CLinux", "Text", "Threads"]),
        .target(name: "COpenSSLAtExit", dependencies: ["COpenSSL"]),
        library("Crypto", ["COpenSSL", "COpenSSLAtExit"]),
        library("TLS", ["EventLoop", "Crypto", "COpenSSL"]),

        library("AMQP", ["EventLoop", "Hashing", "CRabbitMQ"]),
        library("HTTP2", ["EventLoop", "CNGHTTP2"]),
        library("AdminHTTP", ["EventLoop", "Text", "CMicroHTTPD"]),
        // Needs libcurl's header (libcurl4-openssl-dev), not the library (decision 30).
        .target(name: "CCURL"),
        library("HTTPClient", ["CCURL"]),
        // Needs libpq's header (libpq-dev), not the library (decision 30).
        .target(name: "CPostgreSQL"),
        library("PostgreSQL", ["EventLoop", "Crypto", "CPostgreSQL"]),
        library("HTTPProxy", ["EventLoop"]),
        // Needs libsqlite3's header (libsqlite3-dev), not the library (decision 30).
        .target(name: "CSQLite"),
        library("SQLite", ["EventLoop", "Threads", "CSQLite"]),

        library("JSON", ["Hashing", "Text"]),
        library("JSONSchema", ["JSON", "Hashing", "Text", "CPCRE2"], resources: metaSchemas),
        library("YAML", ["JSON", "CYAML"]),

        library("FuzzTargets", ["JSON", "JSONSchema"]),

        library("APNSProtocol", ["JSON", "Crypto"]),
        library("APNS", ["APNSProtocol", "EventLoop", "HTTP2", "TLS", "Crypto", "JSON", "Telemetry"]),

        library(
            "Registrations", ["APNSProtocol", "Crypto", "JSON", "Text"],
            resources: ["registration", "registration-event", "registration-reply"].map {
                .embedInCode("Schemas/\($0).schema.json")
            }),
        library(
            "RegistrationStores",
            ["Registrations", "PostgreSQL", "SQLite", "APNSProtocol", "Crypto", "EventLoop", "Text", "Threads"]),

        library("BrokerTopology", ["JSON", "Text"]),
        library(
            "BrokerManagement",
            ["BrokerTopology", "AMQP", "EventLoop", "HTTPClient", "JSON", "Telemetry", "Threads"]),
        library(
            "Delivery",
            [
                "Registrations", "BrokerTopology", "EventLoop", "AMQP", "APNS", "APNSProtocol", "JSON", "JSONSchema",
                "TLS", "Crypto", "Telemetry", "Hashing", "Text", "Threads",
            ],
            resources: ["notification.schema.json", "channel-command.schema.json"].map { .embedInCode("Schemas/\($0)") }
        ),
        library(
            "ControlProtocol",
            ["Delivery", "Registrations", "APNSProtocol", "JSON", "Crypto", "Telemetry", "EventLoop", "Text"]),
        library(
            "History",
            ["ControlProtocol", "Registrations", "SQLite", "Crypto", "JSON", "EventLoop", "Text", "Threads"]),
        library(
            "Configuration",
            [
                "ControlProtocol", "Delivery", "BrokerManagement", "BrokerTopology", "AMQP", "APNS", "APNSProtocol",
                "RegistrationStores", "Registrations", "PostgreSQL", "YAML", "JSONSchema", "JSON", "HTTPProxy",
                "HTTPClient", "TLS", "Crypto", "Telemetry", "EventLoop", "Text", "CLinux",
            ],
            resources: [
                "config.schema.json", "result.schema.json", "fanout.schema.json", "dead-letter.schema.json",
                "channel-reply.schema.json", "asyncapi.yaml", "martlet.yaml",
            ].map { .embedInCode("Schemas/\($0)") }),
        library(
            "DeadLetters",
            [
                "Configuration", "Delivery", "BrokerManagement", "BrokerTopology", "AMQP", "JSON", "Crypto",
                "EventLoop", "Text",
            ]),
        library(
            "RegistrationTools",
            [
                "Configuration", "Registrations", "APNSProtocol", "CommandKit", "Crypto", "EventLoop", "Hashing",
                "JSON", "Text",
            ]),
        library(
            "Worker",
            [
                "Configuration", "ControlProtocol", "Delivery", "RegistrationStores", "Registrations",
                "BrokerManagement", "BrokerTopology", "AMQP", "APNS", "APNSProtocol", "JSONSchema", "JSON", "AdminHTTP",
                "HTTPClient", "Crypto", "Telemetry", "EventLoop", "Threads", "CLinux",
            ]),
        library(
            "Actions",
            [
                "Configuration", "ControlProtocol", "History", "DeadLetters", "Delivery", "Registrations",
                "BrokerManagement", "BrokerTopology", "AMQP", "APNSProtocol", "Crypto", "EventLoop", "JSON",
                "JSONSchema", "Text",
            ]),
        library(
            "Console",
            [
                "Actions", "Configuration", "ControlProtocol", "History", "DeadLetters", "Delivery", "Registrations",
                "BrokerTopology", "AMQP", "APNSProtocol", "AdminHTTP", "Crypto", "EventLoop", "JSON", "SQLite", "Text",
                "Threads",
            ],
            resources: [
                "actions.js", "announcer.js", "api.js", "apps.js", "audit.js", "bar.js", "controls.css", "copy.js",
                "dead.js", "dialog.js", "dialogs.css", "dom.js", "draw.js", "editor.js", "feed.js", "fields.js",
                "find.js", "fleet.js", "frame.css", "header.js", "icon.svg", "index.html", "keyboard.js", "keys.js",
                "lists.css", "login.js", "now.js", "outcome.js", "page.css", "page.js", "paging.js", "parts.js",
                "pauses.js", "preferences.css", "queues.js", "redrive.js", "reveal.js", "router.js", "run.js",
                "samples.js", "session.js", "sparkline.js", "stored.js", "table.js", "test.js", "waits.js", "watch.js",
                "wizard.js", "words.js", "workers.js",
            ].map { .embedInCode("Page/\($0)") }),
        library(
            "MartletCLI",
            [
                "Actions", "Console", "Worker", "DeadLetters", "RegistrationTools", "RegistrationStores",
                "Registrations", "PostgreSQL", "SQLite", "Configuration", "ControlProtocol", "History", "Delivery",
                "BrokerManagement",
                "BrokerTopology", "AMQP",
                "APNS", "APNSProtocol", "YAML", "JSONSchema", "JSON", "AdminHTTP", "HTTPClient", "HTTP2", "TLS",
                "Crypto", "Telemetry", "EventLoop", "CommandKit", "Text", "Threads", "CLinux",
            ]),
        command("martlet", ["MartletCLI"], data: ["martlet.profdata"]),

        library(
            "APNSSimulator",
            [
                "APNSProtocol", "EventLoop", "HTTP2", "TLS", "Crypto", "JSON", "YAML", "Telemetry", "AdminHTTP",
                "Hashing", "Text", "CommandKit",
            ],
            resources: [
                "api.js", "arrival.js", "clock.js", "connections.js", "copy.js", "curl.js", "detail.css", "detail.js",
                "dom.js", "explain.js", "faults.js", "feed.js", "frame.css", "guide.js", "icon.svg", "index.html",
                "jsontext.js", "lockscreen.css", "lockscreen.js", "notification.js", "outcome.js", "page.css",
                "page.js", "preferences.css", "record.js", "requests.css", "requests.js", "search.js", "side.css",
                "teams.js", "words.js", "world.css", "world.js",
            ].map { .embedInCode("Page/\($0)") }),
        command("apns-simulator", ["APNSSimulator", "EventLoop", "Crypto", "Telemetry", "CLinux"]),

        library(
            "TestKit",
            [
                "EventLoop", "AMQP", "HTTP2", "TLS", "Crypto", "JSON", "YAML", "APNSProtocol", "APNS",
                "BrokerManagement", "BrokerTopology", "APNSSimulator", "Registrations", "Telemetry", "AdminHTTP",
                "CLinux", "Threads",
            ]),
        .executableTarget(
            name: "martlet-bench",
            dependencies: [
                "TestKit", "CommandKit", "EventLoop", "AMQP", "APNS", "APNSProtocol", "APNSSimulator", "Delivery",
                "Crypto", "TLS", "JSON", "JSONSchema", "Telemetry", "CLinux", "CValgrind", "BrokerTopology",
                "RegistrationStores", "Registrations", "PostgreSQL", "SQLite", "Text", "History", "ControlProtocol",
                "Actions", "Configuration",
            ],
            exclude: ["Schema/yardstick"], swiftSettings: settings),
        .executableTarget(name: "baseline-relay", dependencies: ["CRabbitMQ"]),
        .executableTarget(name: "baseline-worker", dependencies: ["CRabbitMQ", "CNGHTTP2", "COpenSSL"]),
        .executableTarget(name: "baseline-sink", dependencies: ["CNGHTTP2", "COpenSSL"]),
        .executableTarget(name: "baseline-registrations", linkerSettings: [.linkedLibrary("pq")]),

        tests("HashingTests", ["Hashing"]),
        tests("TextTests", ["Text"]),
        tests("ThreadsTests", ["Threads", "CLinux"]),
        tests("CommandKitTests", ["CommandKit", "TestKit"], data: ["Golden"]),
        tests("EventLoopTests", ["EventLoop", "TestKit", "CLinux", "Threads"]),
        tests("TelemetryTests", ["Telemetry", "CLinux"]),
        tests("CryptoTests", ["Crypto"]),
        tests("TLSTests", ["TLS", "Crypto", "EventLoop", "TestKit", "Threads"]),
        tests("AMQPTests", ["AMQP", "EventLoop", "TLS", "Crypto", "TestKit", "Threads"]),
        tests("HTTP2Tests", ["HTTP2", "EventLoop", "TestKit"]),
        tests("AdminHTTPTests", ["AdminHTTP", "EventLoop", "TestKit"]),
        tests("HTTPClientTests", ["HTTPClient", "AdminHTTP", "EventLoop", "TLS", "Crypto", "TestKit", "Threads"]),
        tests("HTTPProxyTests", ["HTTPProxy", "EventLoop", "TestKit"]),
        tests("PostgreSQLTests", ["PostgreSQL", "Crypto", "EventLoop", "TestKit"]),
        tests("SQLiteTests", ["SQLite", "EventLoop", "TestKit", "Threads"]),
        tests("JSONTests", ["JSON"]),
        tests("JSONSchemaTests", ["JSONSchema", "JSON", "TestKit"], data: ["Cases"]),
        tests("FuzzTargetsTests", ["FuzzTargets"], data: ["Corpus", "words.dict"]),
        tests("YAMLTests", ["YAML", "JSON"]),
        tests("APNSProtocolTests", ["APNSProtocol", "Crypto", "TestKit"]),
        tests("APNSTests", ["APNS", "APNSProtocol", "EventLoop", "HTTP2", "Crypto", "JSON", "Telemetry", "TestKit"]),
        tests(
            "APNSSimulatorTests",
            [
                "APNSSimulator", "APNSProtocol", "AdminHTTP", "CommandKit", "EventLoop", "HTTP2", "TLS", "Crypto",
                "JSON", "TestKit", "Threads",
            ]),
        tests(
            "RegistrationsTests",
            ["Registrations", "APNSProtocol", "Crypto", "EventLoop", "JSON", "JSONSchema", "TestKit"]),
        tests(
            "RegistrationStoresTests",
            [
                "RegistrationStores", "RegistrationTools", "Registrations", "PostgreSQL", "SQLite", "APNSProtocol",
                "Crypto", "EventLoop", "TestKit", "Threads",
            ]),
        tests("BrokerTopologyTests", ["TestKit", "BrokerTopology", "YAML", "JSON"]),
        tests(
            "BrokerManagementTests",
            [
                "TestKit", "BrokerManagement", "BrokerTopology", "AMQP", "AdminHTTP", "HTTPClient", "EventLoop",
                "Threads",
            ]),
        tests(
            "DeliveryTests",
            [
                "Registrations", "BrokerTopology", "Delivery", "EventLoop", "AMQP", "APNS", "APNSProtocol",
                "APNSSimulator", "HTTP2", "JSON", "JSONSchema", "Crypto", "Telemetry", "TestKit", "Text", "Threads",
            ], data: ["Simulation/Regressions"]),
        tests(
            "ControlProtocolTests",
            ["ControlProtocol", "Delivery", "Registrations", "JSON", "Crypto", "Telemetry", "EventLoop", "Text"]),
        tests(
            "HistoryTests",
            ["History", "ControlProtocol", "Registrations", "SQLite", "Crypto", "JSON", "EventLoop", "TestKit"]),
        tests(
            "ConfigurationTests",
            [
                "TestKit", "MartletCLI", "Actions", "Worker", "Configuration", "ControlProtocol", "Delivery",
                "RegistrationStores", "Registrations",
                "PostgreSQL", "BrokerTopology", "AMQP", "APNS", "APNSProtocol", "YAML", "JSONSchema", "JSON",
                "HTTPProxy", "HTTPClient", "Crypto", "Telemetry", "EventLoop",
            ]),
        tests(
            "ConsoleTests",
            [
                "Console", "Actions", "Configuration", "ControlProtocol", "History", "DeadLetters", "Delivery",
                "BrokerManagement", "BrokerTopology", "AMQP", "AdminHTTP", "Crypto", "EventLoop", "JSON", "SQLite",
                "TestKit",
            ]),
        tests(
            "DeadLettersTests",
            [
                "TestKit", "MartletCLI", "DeadLetters", "Delivery", "BrokerTopology", "AMQP", "JSON", "EventLoop",
            ]),
        tests(
            "RegistrationToolsTests",
            ["RegistrationTools", "Registrations", "APNSProtocol", "Crypto", "EventLoop", "JSON", "TestKit"]),
        tests(
            "WorkerTests",
            [
                "TestKit", "Worker", "Actions", "Configuration", "ControlProtocol", "Delivery", "Registrations",
                "BrokerManagement", "BrokerTopology", "AMQP", "APNS",
                "APNSProtocol", "JSON", "AdminHTTP", "HTTPClient", "Crypto", "Telemetry", "EventLoop", "CommandKit",
                "CLinux",
            ]),
        tests(
            "MartletCLITests",
            [
                "TestKit", "MartletCLI", "Actions", "Console", "Worker", "DeadLetters", "RegistrationTools",
                "RegistrationStores", "Registrations", "PostgreSQL", "SQLite", "Configuration", "ControlProtocol",
                "History", "Delivery", "BrokerManagement", "BrokerTopology", "AMQP", "APNS",
                "APNSProtocol", "YAML", "JSONSchema", "JSON", "AdminHTTP", "HTTPClient", "Crypto", "Telemetry",
                "EventLoop", "CommandKit", "Text", "Threads",
            ]),
        tests("TestKitTests", ["TestKit", "EventLoop", "COpenSSL", "Threads"]),
        tests(
            "SystemTests",
            [
                "TestKit", "EventLoop", "AMQP", "APNS", "APNSProtocol", "APNSSimulator", "BrokerTopology", "Delivery",
                "Registrations", "TLS", "Crypto", "JSON", "JSONSchema", "Telemetry", "HTTP2", "Threads",
            ],
            data: [
                "aioapns", "apns2", "apns2-up", "compat-fork-apns2", "curl", "go", "gobiko-apns", "h2", "kalyke",
                "node", "old_hyper.py", "pika", "pyapns-client",
            ].map { "ForeignClients/\($0)" } + ["OfficialSuite/requirements.txt"]),
    ] + fuzzer
)

/// `MARTLET_TARGETS` names the targets to build, separated by spaces (default: all). Their dependencies are also built.
/// Scripts set the variable to shorten builds.
if let names = Context.environment["MARTLET_TARGETS"]?.split(separator: " ").map(String.init), !names.isEmpty {
    var needed = Set(names)
    let unknown = needed.subtracting(package.targets.map(\.name))
    precondition(unknown.isEmpty, "MARTLET_TARGETS names targets that do not exist: \(unknown.sorted())")
    for target in package.targets.reversed() where needed.contains(target.name) {
        for case .byNameItem(let name, _) in target.dependencies { needed.insert(name) }
    }
    package.targets.removeAll { !needed.contains($0.name) }
    package.products.removeAll { !needed.contains($0.name) }
}
