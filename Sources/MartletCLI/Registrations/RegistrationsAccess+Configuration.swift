import Configuration
import RegistrationStores
import Registrations
import SQLite

extension RegistrationsAccess {
    /// Reads a configuration.
    ///
    /// - Parameter changesStore: Whether the command changes the store. false opens a SQLite store read-only, so that
    ///   its worker may run meanwhile.
    /// - Throws: All mistakes in the configuration, or the missing section.
    init(_ configPath: String, changesStore: Bool) throws(ConfigurationError) {
        let configuration = try ConfigurationFile(configPath).worker()
        guard let settings = configuration.registrations else {
            throw ConfigurationError(mistakes: [Self.missingSection(configPath)])
        }
        let environments = configuration.apps.map { app in
            (app.bundleID, [app.environment] + app.credentials.keys.filter { $0 != app.environment })
        }
        self.init(
            configPath: configPath, devicesPerUserMax: settings.devicesPerUserMax,
            environments: Dictionary(environments) { first, _ in first },
            writer: { [password = settings.password] loop throws(StoreFault) in
                try RegistrationStore(
                    settings.store, password: { password }, keys: settings.keys,
                    access: changesStore ? .readWrite : .readOnly
                ).writer(on: loop)
            })
    }

    static func missingSection(_ configPath: String) -> ConfigurationError.Mistake {
        ConfigurationError.Mistake(
            path: configPath, position: nil,
            message: "the section registrations is missing; add the section with store and keys_file")
    }
}
