import Testing

@testable import Configuration
@testable import MartletCLI

/// The commands that remedies recommend. Each command is complete.
@Suite struct CommandAdviceTests {
    private func completed(_ text: String, config: String? = nil, url: String? = nil, prefix: String? = nil) -> String {
        var broker = BrokerOptions(configPath: config)
        broker.url = url ?? broker.url
        broker.prefix = prefix ?? broker.prefix
        return CommandAdvice(broker).completed(text)
    }

    @Test func commandsNameTheConfiguration() {
        #expect(
            completed("run martlet topology apply, then martlet worker", config: "/etc/my martlet.yaml")
                == "run martlet topology apply --config '/etc/my martlet.yaml', then martlet worker "
                + "--config '/etc/my martlet.yaml'")
        #expect(
            completed("martlet topology print --broker 4.0; martlet config check", config: "a.yaml")
                == "martlet topology print --config a.yaml --broker 4.0; martlet config check a.yaml")
        #expect(
            completed(
                "martlet publish; martlet dead-letters redrive --all; martlet dead-letters import", config: "a.yaml")
                == "martlet publish --config a.yaml; martlet dead-letters redrive --config a.yaml --all; "
                + "martlet dead-letters import --config a.yaml")
        #expect(
            completed("run: martlet registrations migrate", config: "a.yaml")
                == "run: martlet registrations migrate --config a.yaml")
        #expect(
            completed("martlet status --fleet; martlet resume --fleet --topic a", config: "a.yaml")
                == "martlet status --fleet --config a.yaml; martlet resume --fleet --config a.yaml --topic a")
        #expect(completed("martlet status; martlet resume", config: "a.yaml") == "martlet status; martlet resume")
    }

    /// A recommended command never repeats a URL that contains a password.
    @Test func commandsNameTheBroker() {
        #expect(completed("martlet topology apply") == "martlet topology apply")
        #expect(
            completed("martlet topology apply; martlet topology print", url: "amqp://h:5673", prefix: "doc")
                == "martlet topology apply --url amqp://h:5673 --prefix doc; martlet topology print --prefix doc")
        #expect(
            completed("martlet topology apply", url: "amqp://u:secret@h") == "martlet topology apply --url URL")
    }
}
