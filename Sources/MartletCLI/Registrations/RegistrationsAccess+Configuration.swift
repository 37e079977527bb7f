import Configuration
import Crypto
import RegistrationStores
import Registrations
import SQLite

extension RegistrationsAccess {
    /// Reads a configuration.
    ///
    /// - Parameter changesStore: Whether the command changes the store. false opens an SQLite store read-only.
    /// - Throws: All mistakes in the configuration, or the missing section.
    init(_ configPath: String, changesStore: Bool) throws(ConfigurationError) {
        let configuration = try ConfigurationFile(configPath).worker()
        guard let settings = configuration.registrations else {
            throw ConfigurationError(mistakes: [Self.missingSection(configPath)])
        }
        let environments = configuration.apps.map { app in
            (app.bundleID, [app.environment] + app.credentials.keys.filter { $0 != app.environment })
        }
        let (indexKey, dataKey): (String, DataKeySummary)
        do throws(CryptoError) {
            (indexKey, dataKey) = (try settings.keys.indexKeyFingerprint(), try settings.keys.activeDataKeySummary())
        } catch {
            throw ConfigurationError(
                mistakes: [ConfigurationError.Mistake(path: configPath, position: nil, message: error.message)])
        }
        self.init(
            configPath: configPath, devicesPerUserMax: settings.devicesPerUserMax, indexKey: indexKey,
            location: settings.store.location, environments: Dictionary(environments) { first, _ in first },
            writer: { [socket = configuration.admin.socketPath, indexKey, dataKey] loop throws(StoreFault) in
                func writer(_ access: SQLiteFile.Access) throws(StoreFault) -> RegistrationWriter {
                    try RegistrationStore(
                        settings.store, password: { settings.password }, keys: settings.keys, access: access
                    ).writer(on: loop)
                }
                guard changesStore, case .sqlite(let path) = settings.store else {
                    return try writer(changesStore ? .readWrite : .readOnly)
                }
                return SQLiteCommandWriter(
                    path: path, indexKey: indexKey, dataKey: dataKey, direct: try writer(.readWrite),
                    reading: try writer(.readOnly), on: loop,
                    addresses: { WorkerAddress.all(named: socket.map { .socket($0) }) })
            })
    }

    static func missingSection(_ configPath: String) -> ConfigurationError.Mistake {
        ConfigurationError.Mistake(
            path: configPath, position: nil,
            message: "the section registrations is missing; add the section with store and keys_file")
    }
}
