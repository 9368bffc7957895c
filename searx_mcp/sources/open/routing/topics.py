"""The site of Stack Exchange that a question belongs to, by its words.

The names are those of the parameter `site` of Stack Exchange's API, and all of them are known to the engine.
"""

from collections.abc import Collection
from typing import Final

from searx_mcp.sources.open.engine import word_set

DEFAULT: Final = "stackoverflow"
"""Where code goes that fits no other site."""

COMPUTERS: Final = {
    "askubuntu": word_set("ubuntu kubuntu xubuntu lubuntu ppa unity_desktop apt_ubuntu snapd ask_ubuntu"),
    "unix": word_set("""
        linux unix bash zsh debian fedora arch_linux archlinux centos rhel systemd systemctl grep sed awk chmod
        chown crontab cron iptables lvm ext4 btrfs zfs freebsd openbsd tmux journalctl kernel_module xorg wayland
        shell_script posix symlink sudoers fstab"""),
    "superuser": word_set("""
        windows_10 windows_11 windows_7 windows_update excel_formula word_document outlook powerpoint blue_screen
        bsod external_hard_drive usb_drive wifi_adapter ssd vlc chrome_extension taskbar libreoffice
        dual_monitor laptop_battery file_explorer printer wsl bios uefi"""),
    "serverfault": word_set("""
        nginx apache haproxy load_balancer reverse_proxy active_directory postfix dkim spf vpn_server
        bind9 iscsi vmware hyper-v proxmox sysadmin varnish kerberos openldap dovecot smtp_relay"""),
    "dba": word_set("""
        postgresql_index query_plan database_index deadlock vacuum replication sql_server_replication
        database_normalization tablespace pg_dump mysqldump execution_plan innodb autovacuum
        database_administration query_optimization wal_archiving"""),
    "security": word_set("""
        xss csrf_attack sql_injection password_hashing bcrypt tls_certificate phishing malware penetration_testing
        rce zero-day two-factor privilege_escalation vulnerability vulnerabilities exploit cve ransomware
        buffer_overflow infosec threat_model ecdsa diffie-hellman aes-gcm ed25519"""),
    "apple": word_set("""
        mac macos macbook ipad iphone icloud imac airpods time_machine apple_silicon homebrew_mac finder"""),
    "android": word_set("android_phone adb_shell rooted play_store android_settings lineageos"),
    "gis": word_set("""
        gis qgis arcgis postgis shapefile shapefiles geojson gdal raster geopandas projection_epsg
        leaflet"""),
    "datascience": word_set("""
        overfitting feature_engineering xgboost random_forest hyperparameter lightgbm confusion_matrix"""),
    "stats": word_set("""
        p-value p_value linear_regression logistic_regression confidence_interval standard_deviation anova
        t-test bayesian hypothesis_test chi-squared statistical_significance variance mixed_effects
        time_series_forecasting arima statistics multicollinearity maximum_likelihood"""),
    "tex": word_set("latex tex tikz beamer bibtex biblatex overleaf xelatex lualatex pdflatex"),
    "electronics": word_set("""
        arduino resistor capacitor mosfet op-amp op_amp pcb voltage_regulator oscilloscope transistor
        diode fpga spi_bus i2c"""),
    "raspberrypi": word_set("raspberry_pi raspberry raspbian gpio"),
    "gamedev": word_set("""
        unity3d unreal_engine godot game_engine collision_detection shader shaders game_development"""),
    "softwareengineering": word_set("""
        design_pattern design_patterns software_architecture technical_debt agile code_review
        domain-driven microservices"""),
    "devops": word_set("ci/cd gitops helm_chart"),
    "networkengineering": word_set("vlan bgp ospf cisco subnet juniper spanning_tree"),
    "webmasters": word_set("seo sitemap robots.txt google_search_console"),
    "cs": word_set("""
        turing_machine np-complete np-hard time_complexity automata halting_problem p_vs_np big_o big-o"""),
}  # fmt: skip
"""Sites about computers."""

SUBJECTS: Final = {
    "math": word_set("""
        integral integrals derivative derivatives theorem eigenvalue eigenvalues eigenvector matrix_inverse prove proof
        differential_equation differential_equations prime_number prime_numbers polynomial polynomials linear_algebra
        calculus topology geometry trigonometry combinatorics modular_arithmetic logarithm convergent
        vector_space abelian conjecture lemma quadratic_equation limit_of determinant probability factorial
        group_theory number_theory matrix matrices taylor_series irrational"""),
    "physics": word_set("""
        quantum_mechanics general_relativity special_relativity thermodynamics electromagnetism photon photons
        entropy momentum black_hole black_holes speed_of_light gravity gravitational maxwell's newton's friction
        quantum_field_theory schrodinger wave_function double_slit angular_momentum magnetic_field electric_field
        physics higgs_boson quantum_entanglement kinetic_energy"""),
    "chemistry": word_set("""
        chemistry molecule molecules titration covalent oxidation stoichiometry ph_level catalyst
        electronegativity organic_chemistry periodic_table redox"""),
    "biology": word_set("photosynthesis_in cell_membrane evolutionary natural_selection biology ribosome"),
    "english": word_set("""
        grammar etymology synonym synonyms idiom idioms english_word word_for_someone comma semicolon plural_of
        past_tense preposition phrase_origin affect_or_effect affect_vs_effect who_vs_whom pronunciation
        hyphenation oxford_comma grammatically"""),
    "cooking": word_set("""
        recipe recipes cook cooking bake baking bread dough sourdough oven rice pasta roast poach boil_eggs egg eggs
        soup sauce butter flour yeast fry frying knife_sharpening cast_iron chicken beef marinade caramelize
        whisk pizza_dough cake cheese grill slow_cooker pressure_cooker broth steak"""),
    "diy": word_set("""
        drywall plumbing faucet circuit_breaker electrical_outlet light_switch water_heater insulation
        grout tile tiles caulk roof gutter paint_wall hvac thermostat wall_stud hardwood_floor basement door_hinge
        leaking furnace washing_machine dishwasher garage_door"""),
    "travel": word_set("""
        visa schengen layover flight flights airline airlines passport transit_visa luggage itinerary
        travel customs_declaration"""),
    "money": word_set("""
        tax taxes mortgage 401k roth_ira credit_score index_fund stocks investing etf capital_gains
        credit_card interest_rate personal_finance"""),
    "law": word_set("""
        copyright_law landlord tenant legal lawsuit contract_law trademark fair_use jurisdiction gdpr"""),
    "academia": word_set("phd_advisor peer_review tenure postdoc thesis_defense phd_application phd academic_job"),
    "workplace": word_set("job_interview resignation salary_negotiation coworker notice_period resume"),
    "photo": word_set("aperture shutter_speed camera_lens dslr exposure lens_filter bokeh raw_photos"),
    "music": word_set("""
        guitar_chord guitar_chords chord_progression piano_fingering music_theory sheet_music
        time_signature"""),
    "gaming": word_set("minecraft skyrim zelda elden_ring pokemon stardew_valley steam_game"),
    "space": word_set("rocket_engine orbital_mechanics delta-v spacecraft falcon_9 starship rocket"),
    "philosophy": word_set("""
        epistemology kant's nietzsche metaphysics free_will utilitarianism trolley_problem ontology"""),
    "history": word_set("roman_empire medieval world_war_i world_war_ii ancient_rome napoleonic"),
}  # fmt: skip
"""Sites about all else."""


def topic_of(grams: Collection[str], *, is_code: bool) -> str:
    """The site whose words a question has most of; an expression counts as its number of words.

    Args:
        grams: words and expressions of the question, see `parts.grams`.
        is_code: whether it is about programs; then only sites about computers fit.

    Returns:
        A name of Stack Exchange's API, or empty if no site fits better than another of its kind.
    """
    found = set(grams)
    sites = COMPUTERS if is_code else COMPUTERS | SUBJECTS
    best, most = "", 0
    for site, words in sites.items():
        weight = sum(1 + word.count(" ") for word in words & found)
        if weight > most:
            best, most = site, weight
    return best
