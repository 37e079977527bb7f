import AMQP
import BrokerTopology
import ControlProtocol
import Delivery
import EventLoop
import JSON

extension ConfigurationReader {
    /// Reads the settings of a console. Returns nil if the URL of the broker is missing or invalid.
    mutating func readConsole(_ root: JSONValue) -> ConsoleConfiguration? {
        guard let amqp = root["amqp"] else { return nil }
        let section = root["console"]
        // The secrets of the worker's user may be unreadable for the user of a console with its own URL.
        let broker = section?["amqp_url"].map { consoleBroker($0, amqp) } ?? brokerSection(amqp)
        guard let broker else { return nil }
        let topology = WorkerConfiguration.topology(
            broker, readRetry(root["retry"]), readResults(root["topology"]?["results"]),
            readChannels(root["channels"], broker), hasRegistrations: hasRegistrations(root),
            hasFleetControl: hasFleetControl(root), hasJournal: hasJournal(root))
        if !hasFleetControl(root) {
            complain(
                section ?? root, "the console needs the section fleet; add fleet: {} and run martlet topology apply")
        }
        var configuration = ConsoleConfiguration(broker: broker, topology: topology)
        if let section { read(section, into: &configuration) }
        if hasJournal(root) { configuration.history = history(section?["history"]) }
        configuration.acceptedShare = readJournal(root)?.acceptedShare ?? configuration.acceptedShare
        return configuration
    }

    /// Reads the section `console.history`, all of whose members have defaults.
    private mutating func history(_ section: JSONValue?) -> HistorySettings {
        // systemd names the folder of a unit with StateDirectory.
        let state = Environment.value("STATE_DIRECTORY") ?? "/var/lib/martlet-console"
        var history = HistorySettings(folder: state + "/history")
        guard let section else { return history }
        history.folder = section["folder"].flatMap { path($0) } ?? history.folder
        history.days = section["days"]?.int ?? history.days
        if let gigabytes = section["gigabytes_max"]?.int64 { history.bytesMax = gigabytes * 1_000_000_000 }
        history.keysFile = section["keys_file"].flatMap { path($0) }
        return history
    }

    /// Reads a path of the section `console`. Returns nil if it is missing or invalid.
    mutating func readConsolePath(_ root: JSONValue, _ key: String) -> String? {
        root["console"]?[key: key].flatMap { path($0) }
    }

    private mutating func consoleBroker(_ url: JSONValue, _ amqp: JSONValue) -> WorkerConfiguration.Broker? {
        guard let url = brokerURL(url) else { return nil }
        var broker = WorkerConfiguration.Broker(url: url, namesUser: url.namesUser)
        readNames(amqp, into: &broker)
        broker.management = amqp["management_url"].flatMap { readManagement($0, login: url.credentials) }
        if url.usesTLS { broker.tls = readTLS(amqp["tls"]) }
        broker.serverName = amqp["tls"]?["server_name"].flatMap { text($0) }
        return broker
    }

    private mutating func read(_ section: JSONValue, into configuration: inout ConsoleConfiguration) {
        if let value = section["listen"], let listener = listener(value) {
            configuration.listen = listener
            if case .address(let endpoint) = listener, !endpoint.isLoopback,
                section["allow_plaintext"]?.bool != true
            {
                complain(
                    value,
                    "console.listen must be a loopback address or a Unix socket, because the console speaks no TLS; use "
                        + "127.0.0.1:9790 with ssh -L or a TLS proxy on this machine, or set console.allow_plaintext: "
                        + "true if only this machine can reach the address")
            }
        }
        configuration.hostNames = section["host_names"].map { $0.elements.compactMap { text($0) } } ?? []
        configuration.roleMax = section["role_max"].flatMap { role($0) } ?? configuration.roleMax
        configuration.tokensFile = section["tokens_file"].flatMap { path($0) }
        configuration.exportFolder = section["export_folder"].flatMap { path($0) }
        configuration.socketPath = section["socket"].flatMap { path($0) }
        configuration.proxy = section["proxy"].flatMap { proxy($0, configuration.listen) }
    }

    private mutating func listener(_ value: JSONValue) -> ConsoleConfiguration.Listener? {
        guard let text = text(value) else { return nil }
        if text.contains("/") { return .socket(FileReader.path(text, relativeTo: path)) }
        guard let endpoint = Endpoint(text) else {
            complain(
                value,
                "console.listen must be an address and a port, such as 127.0.0.1:9790, or the path of a Unix socket")
            return nil
        }
        return .address(endpoint)
    }

    private mutating func proxy(
        _ section: JSONValue, _ listen: ConsoleConfiguration.Listener
    ) -> ConsoleConfiguration.Proxy? {
        guard case .socket = listen else {
            complain(
                section,
                "console.proxy requires a Unix socket in console.listen, such as /run/martlet-console/http: the console "
                    + "cannot recognize the proxy over TCP")
            return nil
        }
        guard let user = section["user"].flatMap({ text($0) }) else { return nil }
        var groups: [String: OperatorRole] = [:]
        for (name, value) in section["groups"]?.members.map({ ($0, $1) }) ?? [] {
            if let name = name.string, let role = role(value) { groups[name] = role }
        }
        return ConsoleConfiguration.Proxy(user: user, groups: groups)
    }

    private func role(_ value: JSONValue) -> OperatorRole? { value.string.flatMap { OperatorRole(rawValue: $0) } }

    private mutating func path(_ value: JSONValue) -> String? {
        text(value).map { FileReader.path($0, relativeTo: path) }
    }
}
