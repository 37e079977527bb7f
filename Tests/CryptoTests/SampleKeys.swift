/// Keys created with `openssl genpkey` only for these tests. They protect nothing.
enum SampleKeys {
    static let p256 = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgLJ1wGlh6o8xExcXA
        PGb9DBd8NwkXRG32OgsGqX4WysmhRANCAAQ+5k98gHNZTvOKvh+eI2laqEyGWEgI
        Bjbssm0C7yBfX3ABODetdjXzGoDIWnmY7aq5yJ5w8wJ9osRKjaiK8ufu
        -----END PRIVATE KEY-----
        """
    static let p256Public = """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEPuZPfIBzWU7zir4fniNpWqhMhlhI
        CAY27LJtAu8gX19wATg3rXY18xqAyFp5mO2quciecPMCfaLESo2oivLn7g==
        -----END PUBLIC KEY-----
        """
    static let p256SEC1 = """
        -----BEGIN EC PRIVATE KEY-----
        MHcCAQEEICydcBpYeqPMRMXFwDxm/QwXfDcJF0Rt9joLBql+FsrJoAoGCCqGSM49
        AwEHoUQDQgAEPuZPfIBzWU7zir4fniNpWqhMhlhICAY27LJtAu8gX19wATg3rXY1
        8xqAyFp5mO2quciecPMCfaLESo2oivLn7g==
        -----END EC PRIVATE KEY-----
        """
    static let p256Encrypted = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAh+FaD0F+kQWwICCAAw
        DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEK1bXBiluNASYwFx1l8d26gEgZDk
        vBsE8FfHwvB9IA30ktVDQYbTK0+9MIqL1hyCkpYZeo42Q3bZfv/YEgIArnafUScv
        NHkhB9Ky/v9eDb8mdJJrInPiin42y7Nd8WQHWYRo4uRHqqdNMhS/CgX3jb2ZRDY+
        7RBv0eedfK/XcTDhIx1XlpUWuO00YfXpqGqoWrIQAoKoK3K8xPKH6fJMzq0jneY=
        -----END ENCRYPTED PRIVATE KEY-----
        """
    static let p384 = """
        -----BEGIN PRIVATE KEY-----
        MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDAgafguVSGJgIcnAwAG
        TK/FG5vVlp+smWmzeKBkINUCAUjpcyY5IpW6hHp2/H7wMgShZANiAAQTx3jnHnW0
        IpEUnvssX0FNuJm8620M4Tls5KmorqGZcHprOxRHCscDu2mQ8nQAjWFP8+xHOilr
        uVfrkrQEHKZ8QocYJo7BMNv17Gxuj6XVYozZWwgovJ5yO0N9k5bFA7M=
        -----END PRIVATE KEY-----
        """
    static let ed25519 = """
        -----BEGIN PRIVATE KEY-----
        MC4CAQAwBQYDK2VwBCIEIGgAcEVBCUOs/AV/gjEE66EP+zh+xSiHVFL61UqMUgHK
        -----END PRIVATE KEY-----
        """
    /// DER signature of the word `martlet` by `p256`, created with `openssl dgst -sha256 -sign`.
    static let signatureOfMartlet =
        "30450221009ef9a76d1d31ddf02119fce732efb24657ea0be2f5e9c1b50e9c526b5de2fe4e02206f837b3d562883f0417c25"
        + "f6bc9f51227c9d890dc41f118e16776a7853f7a73e"
}
